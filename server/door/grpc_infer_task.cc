#include "server/door/grpc_infer_task.h"

#include <memory>
#include <utility>

#include "server/bodies/grpc/reply_wire.h"
#include "server/door/grpc_form.h"
#include "server/door/grpc_web.h"
#include "server/door/unread_room.h"

namespace mpsd {

// This may be in use again before Reply() returns.
void AnswerDeflation::Run() {
  HttpReply reply = std::move(reply_);
  CompressReply(coding_, &reply);
  call_->Reply(std::move(reply));
}

absl::StatusOr<CallDeadline> GrpcInferTask::ReadDeadline(int64_t now_ns) {
  kind_ = GrpcKindOf(*call());
  return GrpcDeadline(call()->request().Header(kGrpcTimeout), now_ns,
                      context().default_deadline_ns);
}

HttpReply GrpcInferTask::ErrorOf(const absl::Status& status) const {
  HttpReply reply = GrpcError(status, context().style);
  // Clients take headers without a body for trailers, and look for echoes in the headers before.
  if (has_echoes()) std::swap(reply.headers, reply.trailers);
  ToWeb(kind_, &reply);
  return reply;
}

absl::StatusOr<BodyCoding> GrpcInferTask::ReadCoding() {
  return GrpcCoding(call(), context().inflaters != nullptr);
}

absl::StatusOr<std::optional<absl::string_view>> GrpcInferTask::FindCompressed(BodyCoding coding) {
  absl::StatusOr<std::string> body = GrpcBodyOf(kind_, call());
  if (!body.ok()) return body.status();
  body_ = *std::move(body);
  const absl::StatusOr<GrpcMessage> message = GrpcMessageOf(body_, coding);
  if (!message.ok()) return message.status();
  message_ = message->bytes;
  if (!message->is_compressed) return std::nullopt;
  return message_;
}

void GrpcInferTask::DropCompressed() {
  std::string().swap(body_);
  InferTask::DropCompressed();
}

absl::Span<char> GrpcInferTask::TakeBeginning(absl::string_view first, size_t bytes) {
  if (kind_ != GrpcKind::kOwn || IsCompressed(first[0], coding()).value_or(true)) {
    return {};
  }
  return AdmitBeginning({first.substr(kGrpcPrefixBytes), bytes - kGrpcPrefixBytes});
}

bool GrpcInferTask::ReadBeginning(const RequestBeginning& beginning, InferMessage* message,
                                  TensorForms* forms) {
  if (!wire_.ReadBeginning(beginning.bytes, beginning.whole_bytes, context().message_bytes,
                           message))
    return false;
  *forms = wire_.forms();
  return MayBeginWith(message->model);
}

absl::Status GrpcInferTask::Read(InferMessage* message, TensorForms* forms) {
  if (is_inflated()) {
    message_ = body_ = TakeInflated();
    if (kind_ == GrpcKind::kOwn) {
      answer_coding_ = AnswerCoding(call()->request(), coding());
    }
  }
  const absl::Status status = wire_.Read(message_, context().message_bytes, message);
  if (status.ok()) *forms = wire_.forms();
  return status;
}

absl::Status GrpcInferTask::Write(const Answer& answer, bool is_last) {
  const bool is_plain = answer_coding_ == BodyCoding::kPlain;
  std::shared_ptr<void> pin = kind_ == GrpcKind::kOwn && is_plain ? Pin(answer) : nullptr;
  std::string body = GrpcBody();
  Splices splices;
  AppendReply(exchange()->HeadOf(is_last), answer, &body, pin == nullptr ? nullptr : &splices);
  HttpReply reply = GrpcReply(std::move(body), std::move(splices));
  reply.held = std::move(pin);
  ToWeb(kind_, &reply);
  const absl::Status status = HoldRoom(&reply);
  if (status.ok()) Keep(std::move(reply));
  return status;
}

void GrpcInferTask::SendLast() {
  if (answer_coding_ == BodyCoding::kPlain) return InferTask::SendLast();
  HttpReply reply = TakeReply();
  AddEchoes(&reply);
  deflation_.Send(answer_coding_, std::move(reply), call());
}

void GrpcInferTask::DropPayloads() {
  wire_.DropBuffers();
  std::string().swap(body_);
  InferTask::DropPayloads();
}

void GrpcInferTask::Over() {
  wire_.Clear();
  std::string().swap(body_);
  answer_coding_ = BodyCoding::kPlain;
  InferTask::Over();
}

}  // namespace mpsd
