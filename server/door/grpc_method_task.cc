#include "server/door/grpc_method_task.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "server/door/body_fault.h"
#include "server/door/grpc_form.h"
#include "server/door/method_task.h"
#include "server/wire/named_model.h"

namespace mpsd {

void GrpcMethodTask::Serve(BodyEnd body) {
  const absl::StatusOr<absl::string_view> request = Request(body);
  if (!request.ok()) return Answer(request.status(), "");
  const CallerInfo caller{call_->peer(), call_->connection()};
  if (method_->kind == MethodTable::Kind::kDeferred) {
    // The task lives until the reply; afterwards nothing of it is touched.
    return method_->deferred(caller, *request,
                             [this](const absl::Status& status, const std::string& response) {
                               Answer(status, response);
                             });
  }
  std::string response;
  const absl::Status status = method_->unary(caller, *request, &response);
  Answer(status, response);
}

absl::StatusOr<absl::string_view> GrpcMethodTask::Request(BodyEnd body) {
  if (absl::Status status = FaultOf(body).status; !status.ok()) return status;
  const absl::StatusOr<absl::string_view> request = GrpcMessageOf(call_->request().body.view());
  if (!request.ok()) return request;
  if (request->size() > MethodTask::kMaxRequestBytes) {
    return absl::ResourceExhaustedError(absl::StrCat("a request of this method has at most ",
                                                     MethodTask::kMaxRequestBytes, " bytes"));
  }
  if (access_->model_field == 0) return request;
  const std::optional<absl::string_view> model = TextField(*request, access_->model_field);
  if (!model.has_value()) {
    return absl::InvalidArgumentError("the bytes are not a request of this method");
  }
  if (absl::Status status = context_->gate->MayUse(*call_, *access_, *model, &grant_);
      !status.ok()) {
    return status;
  }
  return request;
}

void GrpcMethodTask::Answer(const absl::Status& status, const std::string& response) {
  if (!status.ok()) return call_->Reply(GrpcError(status, StatusStyle::kOwn));
  call_->Reply(GrpcReply(absl::StrCat(GrpcBody(), response)));
}

}  // namespace mpsd
