// MethodBodies: JSON and gRPC messages of methods that do not infer.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/door/route/route.h"

namespace mpsd {

// The name in the MethodTable and in the gate's list. The view lives forever. REQUIRES: the route
// names a method. Pure.
absl::string_view MethodNameOf(RouteKind kind);

// The serialized request. INVALID_ARGUMENT if the body is not the method's (control_json.h). Pure.
absl::StatusOr<std::string> MethodRequestOf(const Route& route, absl::string_view body);

// Empty for a response without fields. INTERNAL for a text that is not UTF-8, which protobuf writes
// but does not read. Pure.
absl::StatusOr<std::string> MethodJsonOf(RouteKind kind, const std::string& response);

}  // namespace mpsd
