// MethodAccess: what it takes to call a method. The one list of all methods that can be called.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/access/role.h"

namespace mpsd {

// Whose affairs a call is about.
enum class Scope : uint8_t {
  kServer,      // of no model
  kModel,       // of the model that the request names; of all where it names none
  kModelIfAny,  // of the model that the request names; of none where it names the server
  kAllModels,   // of every model at once
};

// The server's own name, where a request may name a model or the server; so does no name at all.
inline constexpr absl::string_view kServerName = "inference.GRPCInferenceService";

struct MethodAccess {
  absl::string_view name;  // "/package.Service/Method", or the path of an HTTP request
  RoleSet roles;           // any of them will do
  Scope scope = Scope::kServer;
  uint32_t model_field = 0;  // the number of the field that names the model; 0: not known here
};

inline constexpr RoleSet kMayInfer = Role::kInfer;

inline constexpr MethodAccess kModelInferAccess{"/inference.GRPCInferenceService/ModelInfer",
                                                kMayInfer, Scope::kModel, 0};
inline constexpr MethodAccess kModelStreamInferAccess{
    "/inference.GRPCInferenceService/ModelStreamInfer", kMayInfer, Scope::kModel, 0};

// Every method. Pure.
absl::Span<const MethodAccess> AllMethodAccess();

// The method of this name; one that no role may call when there is none. The referent lives for
// ever. Thread-safe.
const MethodAccess& AccessOf(absl::string_view name);

}  // namespace mpsd
