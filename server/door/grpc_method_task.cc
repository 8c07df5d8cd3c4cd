#include "server/door/grpc_method_task.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "server/door/body_fault.h"
#include "server/door/grpc_form.h"
#include "server/door/grpc_web.h"
#include "server/door/method_task.h"
#include "server/wire/named_model.h"

namespace mpsd {

void GrpcMethodTask::Serve(BodyEnd body) {
  if (absl::Status status = FaultOf(body).status; !status.ok()) return Answer(status, "");
  absl::StatusOr<std::string> bytes = GrpcBodyOf(kind_, call_);
  if (!bytes.ok()) return Answer(bytes.status(), "");
  body_ = *std::move(bytes);
  const absl::StatusOr<GrpcMessage> message = GrpcMessageOf(body_, coding_);
  if (!message.ok()) return Answer(message.status(), "");
  if (message->is_compressed) return inflation_.Begin(coding_, message->bytes, call_);
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
  if (absl::Status status = Check(request); !status.ok()) return Answer(status, "");
  const CallerInfo caller{call_->peer(), call_->connection()};
  if (method_->kind == MethodTable::Kind::kDeferred) {
    // The task lives until the reply; afterwards nothing of it is touched.
    return method_->deferred(caller, request,
                             [this](const absl::Status& status, const std::string& response) {
                               Answer(status, response);
                             });
  }
  std::string response;
  const absl::Status status = method_->unary(caller, request, &response);
  Answer(status, response);
}

absl::Status GrpcMethodTask::Check(absl::string_view request) {
  if (request.size() > MethodTask::kMaxRequestBytes) {
    return absl::ResourceExhaustedError(absl::StrCat("a request of this method has at most ",
                                                     MethodTask::kMaxRequestBytes, " bytes"));
  }
  if (access_->model_field == 0) return absl::OkStatus();
  const std::optional<absl::string_view> model = TextField(request, access_->model_field);
  if (!model.has_value()) {
    return absl::InvalidArgumentError("the bytes are not a request of this method");
  }
  return context_->gate->MayUse(*call_, *access_, *model, &grant_);
}

void GrpcMethodTask::Answer(const absl::Status& status, const std::string& response) {
  HttpReply reply = status.ok() ? GrpcReply(absl::StrCat(GrpcBody(), response))
                                : GrpcError(status, StatusStyle::kOwn);
  ToWeb(kind_, &reply);
  call_->Reply(std::move(reply));
}

}  // namespace mpsd
