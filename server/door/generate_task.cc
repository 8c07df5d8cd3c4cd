#include "server/door/generate_task.h"

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "server/bodies/json/generate.h"
#include "server/bodies/json/json_text.h"

namespace mpsd {
namespace {

constexpr char kEvents[] = "text/event-stream; charset=utf-8";

// Triton's clients know this text.
absl::Status NotOneAnswer() {
  return absl::InvalidArgumentError(
      "generate expects model to produce exactly 1 response, use generate stream for model that "
      "generates various number of responses");
}

HttpReply Events(std::string text) {
  HttpReply reply(200, kEvents, std::move(text));
  reply.AddHeader("Cache-Control", "no-cache");
  return reply;
}

}  // namespace

absl::Status GenerateTask::ReadBody(std::string bytes, InferMessage* message, InferBody* body) {
  if (absl::Status status = CheckJson(bytes.size()); !status.ok()) return status;
  const absl::StatusOr<ModelSpec> spec = ToldSpec(*message);
  if (!spec.ok()) return spec.status();
  return ReadGenerateBody(std::move(bytes), *spec, context().message_bytes, message, body);
}

absl::Status GenerateTask::WriteBody(const ReplyHead& head, const Answer& answer, const InferBody&,
                                     HttpReply* reply) {
  std::string json;
  const absl::Status status = WriteGenerateReply(head, answer, context().message_bytes, &json);
  if (!status.ok()) return status;
  *reply = streams() ? Events(StreamEvent(json)) : HttpReply(200, kJsonType, std::move(json));
  return absl::OkStatus();
}

// When a function of the exchange or the call returns, the task may be in use again. So each such
// call is the last action here.
void GenerateTask::SendPart() {
  HttpReply part = TakeReply();
  const bool is_first = !std::exchange(has_answer_, true);
  if (streams()) {
    if (is_first) AddEchoes(&part);
    return call()->ReplyPart(std::move(part));
  }
  if (is_first) {
    answer_ = std::move(part);
    return exchange()->Continue();
  }
  has_more_ = true;
  exchange()->StopAnswers();
}

void GenerateTask::PartTaken(bool taken) {
  if (!taken) return exchange()->StopAnswers();
  exchange()->Continue();
}

void GenerateTask::SendLast() {
  if (!has_answer_) return InferTask::SendLast();
  if (streams()) return call()->Reply(TakeReply());
  InferTask::SendError(NotOneAnswer());
}

void GenerateTask::SendNoMore() {
  if (!streams() && !has_answer_) return InferTask::SendError(NotOneAnswer());
  HttpReply reply = streams() ? Events("") : std::move(answer_);
  AddEchoes(&reply);
  call()->Reply(std::move(reply));
}

// A stream that has begun has sent its code: an event carries the error.
void GenerateTask::SendError(const absl::Status& status) {
  if (streams() && has_answer_) {
    return call()->Reply(Events(StreamEvent(ErrorJson(CutToHeaderLimit(status.message())))));
  }
  InferTask::SendError(has_more_ ? NotOneAnswer() : status);
}

void GenerateTask::Over() {
  has_answer_ = has_more_ = false;
  answer_ = HttpReply();
  InferTask::Over();
}

}  // namespace mpsd
