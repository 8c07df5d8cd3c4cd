// MethodAccess: the roles that may call a method. Has the list of all methods that can be called.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/access/role.h"

namespace mpsd {

// What a call is about.
enum class Scope : uint8_t {
  kServer,      // not a model
  kModel,       // the model that the request names; all models if it names none
  kModelIfAny,  // likewise, or the server where the request names the server
  kAllModels,   // all models at once
};

// The name of the server in a request that may name a model or the server. No name means the server
// too.
inline constexpr absl::string_view kServerName = "inference.GRPCInferenceService";

// A row of the list. A value; the view lives forever.
struct MethodAccess {
  absl::string_view name;  // "/package.Service/Method", or the path of an HTTP request
  RoleSet roles;           // any one of these suffices
  Scope scope = Scope::kServer;
  uint32_t model_field =
      0;  // the field of the request that names the model; 0: the caller finds it
};

inline constexpr RoleSet kMayInfer = Role::kInfer;

inline constexpr MethodAccess kModelInferAccess{"/inference.GRPCInferenceService/ModelInfer",
                                                kMayInfer, Scope::kModel, 0};
inline constexpr MethodAccess kModelStreamInferAccess{
    "/inference.GRPCInferenceService/ModelStreamInfer", kMayInfer, Scope::kModel, 0};

// All methods, sorted by name. Pure.
absl::Span<const MethodAccess> AllMethodAccess();

// The method of this name. For a name that is not listed: a method that no role may call. The
// referent lives forever. Thread-safe.
const MethodAccess& AccessOf(absl::string_view name);

}  // namespace mpsd
