#include "server/door/grpc_method_task.h"

#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "server/door/body_fault.h"
#include "server/door/grpc_form.h"
#include "server/door/grpc_web.h"
#include "server/door/method_request.h"

namespace mpsd {

void GrpcMethodTask::Serve(BodyEnd body) {
  if (absl::Status status = FaultOf(body).status; !status.ok()) return Answer(status, "");
  absl::StatusOr<std::string> bytes = GrpcBodyOf(kind_, call_);
  if (!bytes.ok()) return Answer(bytes.status(), "");
  body_ = *std::move(bytes);
  const absl::StatusOr<GrpcMessage> message = GrpcMessageOf(body_, entry_.coding);
  if (!message.ok()) return Answer(message.status(), "");
  if (message->is_compressed) return inflation_.Begin(entry_.coding, message->bytes, call_);
  Call(message->bytes);
}

void GrpcMethodTask::Resumed() {
  MPSD_CHECK(inflation_.TakeResumed());
  std::string().swap(body_);
  call_->DropBody();
  if (!inflation_.status().ok()) return Answer(inflation_.status(), "");
  body_ = inflation_.TakeBytes();
  Call(body_);
}

void GrpcMethodTask::Call(absl::string_view request) {
  absl::Status status =
      CheckMethodRequest(*context_, *call_, *entry_.access, request, &entry_.grant);
  if (!status.ok()) return Answer(status, "");
  const CallerInfo caller{call_->peer(), call_->connection()};
  if (entry_.method->kind == MethodTable::Kind::kDeferred) {
    // The task lives until the reply; afterwards it is not touched.
    return entry_.method->deferred(caller, request,
                                   [this](const absl::Status& ending, const std::string& response) {
                                     Answer(ending, response);
                                   });
  }
  std::string response;
  status = entry_.method->unary(caller, request, &response);
  Answer(status, response);
}

void GrpcMethodTask::Answer(const absl::Status& status, const std::string& response) {
  HttpReply reply = status.ok() ? GrpcReply(absl::StrCat(GrpcBody(), response))
                                : GrpcError(status, StatusStyle::kOwn);
  ToWeb(kind_, &reply);
  call_->Reply(std::move(reply));
}

}  // namespace mpsd
