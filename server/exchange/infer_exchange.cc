#include "server/exchange/infer_exchange.h"

#include <deque>
#include <string>

#include "absl/strings/match.h"
#include "proto/base/check.h"
#include "server/bodies/grpc/status_map.h"
#include "server/bodies/grpc/tensor_forms.h"
#include "server/exchange/row_spread.h"
#include "server/request/retry_info.h"
#include "server/request/served_model.h"

namespace mpsd {
namespace {

// Equal texts get a row each, classified outputs become texts in `storage`. Outputs for the
// client's memory are written there; RequestRegions::StoreToDevice() writes a device's later.
absl::Status ApplyOutputForms(const TensorForms& forms, const Request& request,
                              RequestRegions* regions, Answer* answer,
                              std::deque<std::string>* storage) {
  const ServedModel& model = *request.model;
  absl::Status status;
  if (!request.row_of_text.empty()) {
    status = SpreadRows(request.row_of_text, model.facts.answer_bytes_max, answer, storage);
  }
  if (status.ok()) {
    status = Classify(forms.classes, model.labels, model.spec.batches(), answer, storage);
  }
  return status.ok() ? regions->Store(answer) : status;
}

// Admission names the requests that it refuses. A queue may refuse one that has waited, or a part.
absl::Status NamedIfRefused(const absl::Status& status, absl::string_view id) {
  const bool has_name = absl::StrContains(status.message(), "[request id: ");
  return IsQueueFull(status) && !has_name ? WithId(status, id) : status;
}

}  // namespace

bool IsDecoupled(const Request& request) {
  return request.model != nullptr && request.model->loaded && request.model->spec.decoupled;
}

void AnswerCounter::Add(const Request& request, AnswerOutcome outcome) {
  if (request.queue == nullptr || !IsDecoupled(request)) return;
  const StageSums& sums = request.sums;
  request.metrics->answers.Add(sent_, outcome, sums.infer_ns - counted_.infer_ns,
                               sums.output_ns - counted_.output_ns);
  counted_ = sums;
  if (outcome == AnswerOutcome::kSent) ++sent_;
}

void AnswerCounter::Clear() {
  counted_ = {};
  sent_ = 0;
}

InferExchange::InferExchange(const ExchangeContext* context, ExchangeTransport* transport,
                             Answers answers)
    : context_(context), transport_(transport), thread_(context->thread), answers_(answers) {}

InferExchange::~InferExchange() { MPSD_CHECK(stage_ != Stage::kBegun); }

void InferExchange::Begin(const Arrival& arrival) {
  thread_->Check();
  MPSD_CHECK(stage_ == Stage::kIdle);
  stage_ = Stage::kBegun;
  client_left_ = false;
  request_.arrival_ns = arrival.arrival_ns;
  request_.deadline_ns = arrival.deadline_ns;
  request_.patience_ns = arrival.patience_ns;
  request_.reply = Reply(this);
  request_.bunch = context_->bunch;
  trace_ = arrival.trace;
}

absl::Status InferExchange::CheckAwaited(int64_t now_ns) const {
  thread_->Check();
  if (absl::Status status = CheckInTime(request_, now_ns); !status.ok()) return status;
  return client_left_ ? CallCancelled() : absl::OkStatus();
}

absl::Status InferExchange::Read() {
  thread_->Check();
  MPSD_CHECK(stage_ == Stage::kBegun);
  absl::Status status = transport_->Read(&message_, &forms_);
  message_.takes_many = answers_ == Answers::kMany;
  BeginSpan();
  if (status.ok()) status = transport_->MayUse(message_.model);
  if (!status.ok()) return status;
  NoteTenant();
  return LoadRegions();
}

void InferExchange::BeginSpan() {
  if (request_.span != nullptr) return;
  request_.span = context_->observers.BeginSpan(message_.model, *trace_);
}

void InferExchange::NoteTenant() {
  request_.tenant = transport_->Tenant();
  request_.rules_version = transport_->RulesVersion();
}

absl::Span<char> InferExchange::AdmitBeginning(const RequestBeginning& beginning) {
  thread_->Check();
  MPSD_CHECK(stage_ == Stage::kBegun && !is_arriving_);
  if (!transport_->ReadBeginning(beginning, &message_, &forms_)) return {};
  message_.takes_many = answers_ == Answers::kMany;
  BeginSpan();
  NoteTenant();
  is_arriving_ = context_->handler->AdmitArriving(message_, &request_);
  return is_arriving_ ? request_.rest : absl::Span<char>();
}

void InferExchange::RestIsThere(const absl::Status& status) {
  thread_->Check();
  MPSD_CHECK(is_arriving_);
  is_arriving_ = false;
  RowQueue* const queue = request_.queue->RowsFor(request_);
  if (!status.ok()) {
    refusal_ = status;
    queue->Cancel(&request_);
  }
  queue->Commit(&request_);
  DropPayloads();
}

absl::Status InferExchange::LoadRegions() {
  if (forms_.regions.empty()) return absl::OkStatus();
  return regions_.Load(forms_.regions, transport_->Connection(), context_->regions, &message_);
}

void InferExchange::Admit(const absl::Status& status) {
  thread_->Check();
  if (!status.ok() || !regions_.awaits_device()) return Handle(status);
  if (const absl::Status queued = LoadFromDevice(); !queued.ok()) Handle(queued);
}

// A request that is already late is not copied; admission refuses it.
absl::Status InferExchange::LoadFromDevice() {
  return context_->regions->copier()->Enqueue([this] {
    const bool late = request_.deadline_ns <= context_->clock->NowNs();
    resumed_status_ = late ? absl::OkStatus() : regions_.LoadFromDevice();
    transport_->Resume();
  });
}

void InferExchange::Resumed() {
  thread_->Check();
  Handle(client_left_ ? CallCancelled() : resumed_status_);
}

void InferExchange::Handle(const absl::Status& status) {
  if (!status.ok()) return request_.reply.Fail(status);
  switch (context_->handler->Handle(message_, &request_)) {
    case Handled::kLater:
      return;
    case Handled::kAwaitsTexts:
      return context_->handler->EncodeTexts(message_, &request_, this);
    case Handled::kCopied:
      DropPayloads();
  }
}

void InferExchange::DropPayloads() {
  transport_->DropPayloads();
  regions_.DropInputs();
  request_.tokens.reset();
  NoteRead();
}

// Either thread may be the later one.
void InferExchange::NoteRead() {
  if (readers_gone_.fetch_add(1, std::memory_order_acq_rel) == 1) transport_->DropFields();
}

absl::Status InferExchange::GoOn() const {
  if (client_left_) return CallCancelled();
  return CheckInTime(request_, context_->clock->NowNs());
}

void InferExchange::TextsDone(const absl::Status& status) {
  resumed_status_ = status;
  transport_->Resume();
}

void InferExchange::ClientLeft() {
  thread_->Check();
  client_left_ = true;
  if (request_.queue != nullptr) {
    request_.queue->Cancel(&request_);
  } else {
    request_.cancelled = true;  // perhaps in a bunch
  }
}

void InferExchange::Continue() {
  MPSD_CHECK(request_.queue != nullptr);
  request_.queue->RowsFor(request_)->Continue(&request_);
}

void InferExchange::StopAnswers() {
  MPSD_CHECK(request_.queue != nullptr);
  RowQueue* const queue = request_.queue->RowsFor(request_);
  queue->Cancel(&request_);
  queue->Continue(&request_);
}

void InferExchange::Give(const Answer& answer, bool is_last) {
  const bool is_plain =
      forms_.classes.empty() && !regions_.has_outputs() && request_.row_of_text.empty();
  is_plain ? WriteAndSend(answer, is_last) : GiveInForm(answer, is_last);
}

void InferExchange::GiveInForm(Answer answer, bool is_last) {
  std::deque<std::string> storage;
  const absl::Status status = ApplyOutputForms(forms_, request_, &regions_, &answer, &storage);
  if (!status.ok()) return Refuse(status, is_last);
  WriteAndSend(answer, is_last);
}

void InferExchange::WriteAndSend(const Answer& answer, bool is_last) {
  const absl::Status status = transport_->Write(answer, is_last);
  if (!status.ok()) return Refuse(status, is_last);
  regions_.has_device_outputs() ? SendWhenStored(is_last) : SendWritten(is_last);
}

void InferExchange::SendWhenStored(bool is_last) {
  const absl::Status queued = context_->regions->copier()->Enqueue([this, is_last] {
    const absl::Status stored = regions_.StoreToDevice();
    stored.ok() ? SendWritten(is_last) : Refuse(stored, is_last);
  });
  if (!queued.ok()) Refuse(queued, is_last);
}

void InferExchange::SendWritten(bool is_last) {
  if (is_last) {
    CountAndTell(absl::StatusCode::kOk);
    NoteRead();
    transport_->SendLast();
  } else {
    counter_.Add(request_, AnswerOutcome::kSent);
    transport_->SendPart();
  }
}

// Ends the request, even if more answers were due.
void InferExchange::Refuse(const absl::Status& status, bool is_last) {
  if (is_last) return Fail(status);
  refusal_ = status;
  StopAnswers();
}

ReplyHead InferExchange::HeadOf(bool is_last) const {
  return {message_.model, request_.model->version, message_.id, message_.wants_final_flag,
          is_last,        request_.truncated_texts};
}

void InferExchange::End() {
  counter_.Add(request_, AnswerOutcome::kNoMore);
  CountAndTell(absl::StatusCode::kOk);
  transport_->SendNoMore();
}

void InferExchange::Fail(const absl::Status& ending) {
  const absl::Status status = NamedIfRefused(refusal_.ok() ? ending : refusal_, message_.id);
  MPSD_CHECK(!status.ok());
  const bool cancelled = absl::IsCancelled(status);
  counter_.Add(request_, cancelled ? AnswerOutcome::kCancelled : AnswerOutcome::kFailed);
  CountAndTell(status.code());
  NoteRead();
  transport_->SendError(status);
}

void InferExchange::CountAndTell(absl::StatusCode code) {
  MPSD_CHECK(stage_ == Stage::kBegun);
  stage_ = Stage::kEnded;
  CountEnding(request_, code, context_->metrics, context_->clock);
  TellEnding(request_, message_, code, *trace_, context_->observers, context_->clock);
}

void InferExchange::Clear() {
  thread_->Check();
  MPSD_CHECK(stage_ == Stage::kEnded);
  stage_ = Stage::kIdle;
  regions_.Clear();
  forms_ = {};
  message_.model = message_.version = message_.id = absl::string_view();
  message_.texts = {};
  request_.Reset();
  refusal_ = absl::OkStatus();
  counter_.Clear();
  readers_gone_ = 0;
}

}  // namespace mpsd
