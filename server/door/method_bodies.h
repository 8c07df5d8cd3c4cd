// MethodBodies: converts between JSON and gRPC messages for the methods that do not infer.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/door/route/route.h"

namespace mpsd {

// The name of the route's method in the MethodTable and in the gate's list, as for gRPC. The view
// lives forever. REQUIRES: the route names a method. Pure.
absl::string_view MethodNameOf(RouteKind kind);

// The serialized request of the route's method; server/bodies/json/control_json.h says which body a
// method takes. INVALID_ARGUMENT for any other body. Pure.
absl::StatusOr<std::string> MethodRequestOf(const Route& route, absl::string_view body);

// The JSON of a serialized response; empty if it has no fields. INTERNAL for a text that is not
// UTF-8, which protobuf writes but does not read. Pure.
absl::StatusOr<std::string> MethodJsonOf(RouteKind kind, const std::string& response);

}  // namespace mpsd
