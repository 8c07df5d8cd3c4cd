// CheckMethodRequest: whether a method may see a gRPC call's request.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/access/method_access.h"
#include "server/door/door_context.h"
#include "server/http/http_call.h"

namespace mpsd {

// RESOURCE_EXHAUSTED beyond MethodTask::kMaxRequestBytes, INVALID_ARGUMENT if the model cannot be
// read. Otherwise whether the caller may use the method with that model. Lives on the call's
// thread.
absl::Status CheckMethodRequest(const DoorContext& context, const HttpCall& call,
                                const MethodAccess& access, absl::string_view request,
                                Grant* grant);

}  // namespace mpsd
