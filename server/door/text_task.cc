#include "server/door/text_task.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "proto/base/limits.h"
#include "server/bodies/text_routes/usual_model.h"
#include "server/door/text_page.h"
#include "server/exchange/request_ending.h"
#include "server/request/too_long.h"

namespace mpsd {
namespace {

constexpr char kTruncated[] = "x-mpsd-truncated";

// The tokenizer counts texts, the rows count tokens.
struct Counts {
  uint64_t tokens = 0;
  uint64_t truncated = 0;

  void Add(const Request& request, const TextRows& rows) {
    tokens += request.token_count + rows.token_count();
    truncated += request.truncated_texts + rows.truncated();
  }
};

}  // namespace

absl::Status TextTask::ReadBody(std::string bytes, InferMessage* message, InferBody*) {
  absl::Status status = CheckJson(bytes.size());
  if (status.ok()) {
    status = ReadTextRequest(route().text.route, std::move(bytes), context().text_rows, &request_);
  }
  request_.wishes.call_tokens = &text_tokens_;
  if (status.ok()) status = TakeModel(message);
  if (status.ok()) {
    status = CheckTextRequest(route().text.route, request_, *model_, context().message_bytes);
  }
  if (status.ok()) status = TakeRows();
  if (status.ok()) status = CheckRowTokens();
  if (status.ok()) rows_.Fill(request_, *model_, message);
  return status;
}

// A caller who may not use a model does not learn whether there is one.
absl::Status TextTask::TakeModel(InferMessage* message) {
  message->model = request_.model;
  message->version = absl::string_view();
  absl::Status status = request_.model.empty() ? absl::OkStatus() : MayUse(request_.model);
  if (!status.ok()) return status;
  absl::StatusOr<TextModel> model = FindModel();
  if (!model.ok()) return model.status();
  model_ = *std::move(model);
  message->model = model_->name();
  return absl::OkStatus();
}

absl::StatusOr<TextModel> TextTask::FindModel() const {
  if (!request_.model.empty()) return FindTextModel(*context().models, request_.model);
  const auto sees = [this](absl::string_view model) { return Sees(model); };
  return FindUsualModel(*context().models, route().text.route, sees);
}

absl::Status TextTask::TakeRows() {
  const size_t most = model_->served->spec.max_batch_size;
  const size_t count = request_.row_count();
  if (count > most * kMaxRequestParts) {
    return TooLong(absl::StrCat("a request has at most ", most * kMaxRequestParts,
                                " rows for model '", model_->name(), "', and this one has ",
                                count));
  }
  absl::Status status = rows_.Take(request_, *model_, 0, std::min(most, count));
  TextPartOwner* const owner = this;
  for (size_t first = most; first < count && status.ok(); first += most) {
    taken_.push_back(std::make_unique<TextPart>(&context().exchange, owner));
    status = taken_.back()->rows()->Take(request_, *model_, first, std::min(most, count - first));
  }
  CountRows();
  // The rows have copies.
  if (!request_.returns_texts) request_.pairs = {};
  request_.texts = {};
  request_.tokens = {};
  return status;
}

// Before the call's first request enters the queue.
void TextTask::CountRows() {
  auto rows = static_cast<int64_t>(rows_.distinct_count());
  auto work = static_cast<int64_t>(rows_.work());
  for (const auto& part : taken_) {
    rows += static_cast<int64_t>(part->rows()->distinct_count());
    work += static_cast<int64_t>(part->rows()->work());
  }
  call_rows_.rows.store(rows, std::memory_order_relaxed);
  call_rows_.work.store(work, std::memory_order_relaxed);
  request_.wishes.call_rows = taken_.empty() ? nullptr : &call_rows_;
}

// Admission counts those of texts.
absl::Status TextTask::CheckRowTokens() const {
  uint64_t count = rows_.token_count();
  for (const auto& part : taken_) count += part->rows()->token_count();
  if (count <= context().text_tokens) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the rows of the request have ", count,
                                                 " tokens; at most ", context().text_tokens,
                                                 " are served"));
}

absl::Status TextTask::BeginOthers() {
  parts_ = std::exchange(taken_, {});
  left_.store(parts_.size() + 1, std::memory_order_relaxed);
  const auto go_on = [this] { return has_failed_ ? CallCancelled() : absl::OkStatus(); };
  for (const auto& part : parts_) {
    absl::Status status = go_on();
    if (status.ok()) status = EnterBeside(model_->name(), part->place());
    part->Begin(arrival(), status);
  }
  return go_on();
}

void TextTask::DropPayloads() {
  rows_.Drop();
  InferTask::DropPayloads();
}

// Each Resume() causes one Resumed(), in any order: a part may take another's, or the task's, and
// leave its own.
void TextTask::Resumed() {
  if (awaits_cancel_.exchange(false, std::memory_order_acq_rel)) {
    exchange()->ClientLeft();
    CancelParts();
    return LeaveOne();
  }
  for (const auto& part : parts_) {
    if (part->TakeResume()) return part->exchange()->Resumed();
  }
  InferTask::Resumed();
}

void TextTask::ClientLeft() {
  InferTask::ClientLeft();
  CancelParts();
}

void TextTask::CancelParts() {
  for (const auto& part : parts_) part->exchange()->ClientLeft();
}

absl::Status TextTask::WriteBody(const ReplyHead&, const Answer& answer, const InferBody&,
                                 HttpReply* reply) {
  if (!parts_.empty()) return CopyValues(answer, rows_.row_count(), &bytes_);
  TextValues values;
  const absl::Status status = values.Add(answer, rows_.row_count());
  return status.ok() ? WriteValues(&values, reply) : status;
}

void TextTask::SendLast() { parts_.empty() ? InferTask::SendLast() : EndOne(/*is_ok=*/true); }

void TextTask::SendError(const absl::Status& status) {
  if (parts_.empty()) return InferTask::SendError(status);
  status_ = status;
  EndOne(/*is_ok=*/false);
}

HttpReply TextTask::ErrorOf(const absl::Status& status) const {
  return RouteError(route(), status, forced_code(), context().style);
}

// The cancel counts as one more ending. A thread may write replies before it does what was posted,
// and then the call would be over when Resumed() comes.
void TextTask::EndOne(bool is_ok) {
  const bool is_first_failure = !is_ok && !has_failed_.exchange(true, std::memory_order_acq_rel);
  if (is_first_failure && left_.load(std::memory_order_acquire) > 1) {
    left_.fetch_add(1, std::memory_order_relaxed);
    awaits_cancel_.store(true, std::memory_order_release);
    call()->Resume();
  }
  LeaveOne();
}

// The last ending's thread sees what all have written.
void TextTask::LeaveOne() {
  if (left_.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
  HttpReply reply;
  const absl::Status status = Join(&reply);
  if (!status.ok()) return InferTask::SendError(status);
  AddEchoes(&reply);
  call()->Reply(std::move(reply));
}

// A request that another one's failure cancelled has no fault of its own.
absl::Status TextTask::FirstFault() const {
  absl::Status first = status_;
  for (const auto& part : parts_) {
    const bool tells_more = first.ok() || absl::IsCancelled(first);
    if (tells_more && !part->status().ok()) first = part->status();
  }
  return first;
}

absl::Status TextTask::Join(HttpReply* reply) {
  absl::Status status = FirstFault();
  TextValues values;
  if (status.ok()) status = values.AddBytes(bytes_, rows_.row_count());
  for (const auto& part : parts_) {
    if (status.ok()) status = values.AddBytes(part->bytes(), part->rows()->row_count());
  }
  if (status.ok()) status = WriteValues(&values, reply);
  return status.ok() ? HoldRoom(reply) : status;
}

absl::Status TextTask::WriteValues(TextValues* values, HttpReply* reply) {
  Counts counts;
  counts.Add(exchange()->request(), rows_);
  for (const auto& part : parts_) counts.Add(part->exchange()->request(), *part->rows());
  TextUsage usage;
  usage.token_count = counts.tokens;
  usage.duration_ns = context().exchange.clock->NowNs() - arrival().arrival_ns;
  const std::string id = absl::StrCat("rerank-", absl::Hex(arrival().arrival_ns));
  usage.id = request_id().empty() ? id : request_id();
  std::string json;
  const absl::Status status = WriteTextReply(route().text.route, request_, *model_, usage,
                                             context().message_bytes, values, &json);
  if (!status.ok()) return status;
  *reply = HttpReply(200, kJsonType, std::move(json));
  if (counts.truncated > 0) reply->AddHeader(kTruncated, absl::StrCat(counts.truncated));
  return absl::OkStatus();
}

void TextTask::Over() {
  for (const auto& part : parts_) part->exchange()->Clear();
  parts_.clear();
  taken_.clear();
  rows_.Drop();
  request_ = TextRequest();
  model_.reset();
  left_.store(1, std::memory_order_relaxed);
  text_tokens_.store(0, std::memory_order_relaxed);
  has_failed_ = false;
  awaits_cancel_ = false;
  status_ = absl::OkStatus();
  bytes_ = std::string();
  InferTask::Over();
}

}  // namespace mpsd
