#include "server/door/method_request.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "server/bodies/grpc/named_model.h"
#include "server/door/http_gate.h"
#include "server/door/method_task.h"

namespace mpsd {

absl::Status CheckMethodRequest(const DoorContext& context, const HttpCall& call,
                                const MethodAccess& access, absl::string_view request,
                                Grant* grant) {
  if (request.size() > MethodTask::kMaxRequestBytes) {
    return absl::ResourceExhaustedError(absl::StrCat("a request of this method has at most ",
                                                     MethodTask::kMaxRequestBytes, " bytes"));
  }
  if (access.model_field == 0) return absl::OkStatus();
  const std::optional<absl::string_view> model = TextField(request, access.model_field);
  if (!model.has_value()) {
    return absl::InvalidArgumentError("the bytes are not a request of this method");
  }
  return context.gate->MayUse(call, access, *model, grant);
}

}  // namespace mpsd
