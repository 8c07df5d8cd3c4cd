#include "server/door/infer_task.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "proto/base/limits.h"
#include "server/bodies/json/infer_reply.h"
#include "server/bodies/json/raw_body.h"
#include "server/door/body_fault.h"
#include "server/door/call_trace.h"
#include "server/door/error_reply.h"
#include "server/door/http_gate.h"
#include "server/door/route/request_deadline.h"
#include "server/door/unread_room.h"
#include "server/request/retry_info.h"
#include "server/request/served_model.h"
#include "server/texts/told_inputs.h"

namespace mpsd {
namespace {

constexpr char kHeaderLength[] = "Inference-Header-Content-Length";
constexpr char kRequestId[] = "X-Request-Id";
constexpr char kTensors[] = "application/octet-stream";
constexpr size_t kMaxRequestIdBytes = 256;

// Large tensors are copied unless they are pinned.
HttpReply ReplyOf(InferReply written, std::shared_ptr<void> pin) {
  HttpReply reply(200, kJsonType, std::move(written.json));
  for (const absl::string_view bytes : written.binary) {
    if (pin != nullptr && bytes.size() > kCopiedReplyBytes) {
      reply.splices.Add(reply.body.size(), bytes);
    } else {
      reply.body.append(bytes.data(), bytes.size());
    }
  }
  reply.held = std::move(pin);
  return reply;
}

// A gateway in front of this server might have read the other of two headers.
absl::StatusOr<size_t> JsonBytesOf(const HttpRequest& request, size_t body_bytes) {
  if (request.CountOf(kHeaderLength) <= 1) {
    return JsonBytes(request.Header(kHeaderLength), body_bytes);
  }
  return absl::InvalidArgumentError(absl::StrCat("the request has more than one ", kHeaderLength));
}

}  // namespace

InferTask::InferTask(const DoorContext* context, Back back, InferExchange::Answers answers)
    : context_(context),
      thread_(context->exchange.thread),
      back_(std::move(back)),
      inflation_(context->inflaters, context->inflate_bounds),
      exchange_(&context->exchange, this, answers) {}

bool InferTask::Begin(HttpCall* call, Route route) {
  thread_->Check();
  MPSD_CHECK(call_ == nullptr);
  call_ = call;
  route_ = std::move(route);
  forced_code_ = 0;
  const HttpRequest& request = call->request();
  trace_ = TraceOf(request);
  request_id_ = std::string(request.Header(kRequestId).substr(0, kMaxRequestIdBytes));
  grant_ = Grant();
  context_->exchange.metrics->open_calls.fetch_add(1, std::memory_order_relaxed);
  const int64_t now_ns = context_->exchange.clock->NowNs();
  const absl::StatusOr<CallDeadline> deadline = ReadDeadline(now_ns);
  const CallDeadline known = deadline.ok() ? *deadline : CallDeadline{now_ns, 0};
  arrival_ = {now_ns, known.at_ns, &trace_, known.patience_ns};
  exchange_.Begin(arrival_);
  absl::Status status = Enter();
  status.Update(deadline.status());
  is_inflated_ = false;
  if (status.ok()) {
    const absl::StatusOr<BodyCoding> coding = ReadCoding();
    coding_ = coding.value_or(BodyCoding::kPlain);
    status = coding.status();
  }
  if (status.ok()) return true;
  exchange_.Admit(status);
  Over();
  return false;
}

absl::StatusOr<CallDeadline> InferTask::ReadDeadline(int64_t now_ns) {
  return RequestDeadline(call_->request().Header("Request-Timeout"), now_ns,
                         context_->default_deadline_ns);
}

// If the path names a model, a body on its way counts for it already.
absl::Status InferTask::Enter() {
  absl::Status status = context_->open_infer_calls->Enter(call_->peer(), &place_);
  if (status.ok()) status = context_->gate->Enter(*call_, kModelInferAccess, &grant_);
  if (!status.ok() || route_.model.empty()) return status;
  status = MayUse(route_.model);
  return status.ok() ? place_.BelongTo(route_.model) : status;
}

absl::Status InferTask::EnterBeside(absl::string_view model, OpenCalls::Place* place) {
  thread_->Check();
  absl::Status status = context_->open_infer_calls->EnterBeside(place_, place);
  if (status.ok()) status = place->BelongTo(model);
  if (!status.ok()) place->Leave();
  return status;
}

absl::StatusOr<BodyCoding> InferTask::ReadCoding() {
  const BodyCoding coding = CodingOf(call_->request());
  const absl::Status status = CheckCoding(coding, context_->inflaters != nullptr);
  if (status.ok()) return coding;
  forced_code_ = kUnsupportedMedia;
  return status;
}

absl::StatusOr<std::optional<absl::string_view>> InferTask::FindCompressed(BodyCoding coding) {
  if (coding == BodyCoding::kPlain) return std::nullopt;
  return call_->request().body.view();
}

void InferTask::Serve(BodyEnd body) {
  thread_->Check();
  const BodyFault fault = FaultOf(body);
  forced_code_ = fault.http_code;
  if (exchange_.is_arriving()) return RestIsThere(fault.status);
  if (!fault.status.ok()) return Admit(fault.status);
  const absl::StatusOr<std::optional<absl::string_view>> bytes = FindCompressed(coding_);
  if (!bytes.ok() || !bytes->has_value()) return Admit(bytes.status());
  is_inflated_ = true;
  inflation_.Begin(coding_, **bytes, call_);
}

absl::Span<char> InferTask::TakeBeginning(absl::string_view first, size_t bytes) {
  thread_->Check();
  if (route_.kind != RouteKind::kInfer || coding_ != BodyCoding::kPlain) return {};
  return AdmitBeginning({first, bytes});
}

// A refused body is collected: then Read() says why.
bool InferTask::ReadBeginning(const RequestBeginning& beginning, InferMessage* message,
                              TensorForms* forms) {
  const absl::string_view header = call_->request().Header(kHeaderLength);
  const size_t json_bytes = JsonBytesOf(call_->request(), beginning.bytes.size()).value_or(0);
  if (header.empty() || json_bytes == 0 || json_bytes > context_->json_bytes) return false;
  message->model = route_.model;
  message->version = route_.version;
  if (!body_.ReadBeginning(std::string(beginning.bytes), json_bytes, beginning.whole_bytes,
                           context_->message_bytes, message)) {
    return false;
  }
  *forms = body_.forms();
  return MayBeginWith(message->model);
}

absl::Span<char> InferTask::AdmitBeginning(const RequestBeginning& beginning) {
  thread_->Check();
  if (!exchange_.CheckAwaited(context_->exchange.clock->NowNs()).ok()) return {};
  return exchange_.AdmitBeginning(beginning);
}

bool InferTask::MayBeginWith(absl::string_view model) {
  thread_->Check();
  return Sees(model) && (!route_.model.empty() || place_.BelongTo(model).ok());
}

void InferTask::RestIsThere(absl::Status status) {
  if (status.ok()) status = exchange_.CheckAwaited(context_->exchange.clock->NowNs());
  exchange_.RestIsThere(status);
}

// A message that is too large stays so; lack of room passes, and the status says when.
void InferTask::Inflated() {
  const absl::Status status = inflation_.status();
  const bool is_too_large = absl::IsResourceExhausted(status) && !RetryAfterNs(status).has_value();
  if (is_too_large) forced_code_ = FaultOf(BodyEnd::kTooLarge).http_code;
  DropCompressed();
  Admit(status);
}

// The body is there and plain, or `status` says why not.
void InferTask::Admit(absl::Status status) {
  if (status.ok()) status = exchange_.CheckAwaited(context_->exchange.clock->NowNs());
  if (status.ok()) status = exchange_.Read();
  if (status.ok() && route_.model.empty()) status = place_.BelongTo(exchange_.message().model);
  if (status.ok()) status = BeginOthers();
  exchange_.Admit(status);
  CountUnadmitted();
}

// A refused request belongs to no model.
void InferTask::CountUnadmitted() {
  const Request& request = exchange_.request();
  if (request.model == nullptr && !request.reply.owed()) place_.BelongToNone();
}

void InferTask::Resumed() {
  thread_->Check();
  if (inflation_.TakeResumed()) return Inflated();
  exchange_.Resumed();
  CountUnadmitted();
}

void InferTask::ClientLeft() {
  thread_->Check();
  inflation_.Drop();
  exchange_.ClientLeft();
}

absl::Status InferTask::Read(InferMessage* message, TensorForms* forms) {
  thread_->Check();
  message->model = route_.model;
  message->version = route_.version;
  std::string body = is_inflated_ ? inflation_.TakeBytes() : call_->TakeBody();
  const absl::Status status = ReadBody(std::move(body), message, &body_);
  if (status.ok()) *forms = body_.forms();
  return status;
}

absl::Status InferTask::ReadBody(std::string bytes, InferMessage* message, InferBody* body) {
  const absl::string_view header = call_->request().Header(kHeaderLength);
  const absl::StatusOr<size_t> json_bytes = JsonBytesOf(call_->request(), bytes.size());
  if (!json_bytes.ok()) return json_bytes.status();
  if (*json_bytes == 0 && !header.empty()) {
    const absl::StatusOr<ModelSpec> spec = ToldSpec(*message);
    if (!spec.ok()) return spec.status();
    return ReadRawBody(std::move(bytes), *spec, context_->message_bytes, message, body);
  }
  if (absl::Status status = CheckJson(*json_bytes); !status.ok()) return status;
  absl::Status status = body->Read(std::move(bytes), *json_bytes, context_->message_bytes, message);
  if (status.ok()) return status;
  // That the model is missing tells more than the body's fault.
  absl::Status found = FindLoaded(*context_->models, route_.model, route_.version).status();
  return absl::IsNotFound(found) ? found : status;
}

absl::StatusOr<ModelSpec> InferTask::ToldSpec(const InferMessage& message) const {
  const absl::StatusOr<std::shared_ptr<ServedModel>> model =
      FindLoaded(*context_->models, message.model, message.version);
  if (!model.ok()) return model.status();
  ModelSpec spec = (*model)->spec;
  spec.inputs = ToldInputs(**model);
  return spec;
}

absl::Status InferTask::CheckJson(size_t bytes) {
  if (bytes <= context_->json_bytes) return absl::OkStatus();
  forced_code_ = FaultOf(BodyEnd::kTooLarge).http_code;
  return absl::ResourceExhaustedError(
      absl::StrCat("the JSON of a request has at most ", context_->json_bytes,
                   " bytes (limits.http_json), and this one has ", bytes));
}

absl::Status InferTask::MayUse(absl::string_view model) {
  thread_->Check();
  return context_->gate->MayUse(*call_, kModelInferAccess, model, &grant_);
}

bool InferTask::Sees(absl::string_view model) const {
  thread_->Check();
  return context_->gate->Sees(*call_, kModelInferAccess, model, grant_);
}

void InferTask::DropPayloads() {
  thread_->Check();
  body_.DropPayloads();
  inflation_.Clear();
  call_->DropBody();
}

absl::Status InferTask::Write(const Answer& answer, bool is_last) {
  const absl::Status status = WriteBody(exchange_.HeadOf(is_last), answer, body_, &reply_);
  return status.ok() ? HoldRoom(&reply_) : status;
}

absl::Status InferTask::WriteBody(const ReplyHead& head, const Answer& answer,
                                  const InferBody& body, HttpReply* reply) {
  InferReply written;
  const absl::Status status =
      WriteInferReply(head, answer, body, context_->message_bytes, &written);
  if (!status.ok()) return status;
  const size_t header_bytes = written.header_bytes();
  *reply = ReplyOf(std::move(written), header_bytes > 0 ? Pin(answer) : nullptr);
  if (header_bytes > 0) {
    reply->content_type = kTensors;
    reply->AddHeader(kHeaderLength, absl::StrCat(header_bytes));
  }
  return absl::OkStatus();
}

absl::Status InferTask::HoldRoom(HttpReply* reply) const {
  return HoldUnread(*context_, call_->peer(), reply->body.size(), &reply->held);
}

void InferTask::AddEchoes(HttpReply* reply) const {
  EchoTrace(trace_, reply);
  if (!request_id_.empty()) reply->AddHeader(kRequestId, request_id_);
}

// The task may be in use again before Reply() returns: nothing of it is touched later.
void InferTask::SendLast() {
  AddEchoes(&reply_);
  call_->Reply(std::move(reply_));
}

HttpReply InferTask::ErrorOf(const absl::Status& status) const {
  return ErrorReply(status, context_->style, forced_code_);
}

void InferTask::SendError(const absl::Status& status) {
  HttpReply reply = ErrorOf(status);
  AddEchoes(&reply);
  call_->Reply(std::move(reply));
}

void InferTask::Over() {
  thread_->Check();
  exchange_.Clear();
  body_.Clear();
  inflation_.Clear();
  reply_ = HttpReply();
  place_.Leave();
  call_ = nullptr;
  context_->exchange.metrics->open_calls.fetch_sub(1, std::memory_order_relaxed);
  back_(this);
}

}  // namespace mpsd
