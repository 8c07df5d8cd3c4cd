// MethodAccess: all callable methods, with their roles; Grant.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <string_view>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/base/limits.h"

namespace mpsd {

enum class Role : uint8_t {
  kInfer,       // infer, and ask about models and one's own memory
  kHealth,      // ask whether server and models are ready
  kMetrics,     // /metrics, statistics, the workers' status
  kControl,     // change the daemon: load models, settings
  kReflection,  // read the services' descriptors
};

// As in the config, in the order of Role.
inline constexpr std::array<std::string_view, 5> kRoleNames = {"infer", "health", "metrics",
                                                               "control", "reflection"};

// One word in size. Thread-compatible.
class RoleSet {
 public:
  constexpr RoleSet() = default;
  constexpr RoleSet(Role role) : bits_(Bit(role)) {}  // NOLINT: a role is a set of one

  constexpr bool empty() const { return bits_ == 0; }
  constexpr bool Meets(RoleSet other) const { return (bits_ & other.bits_) != 0; }
  constexpr RoleSet operator|(RoleSet other) const { return RoleSet(bits_ | other.bits_); }
  constexpr bool operator==(const RoleSet&) const = default;

 private:
  static constexpr unsigned Bit(Role role) { return 1U << static_cast<unsigned>(role); }
  constexpr explicit RoleSet(unsigned bits) : bits_(bits) {}

  unsigned bits_ = 0;
};

// The subject of a call, if rules may be limited to some models.
enum class Scope : uint8_t {
  kServer,
  kModel,       // the request's model; all models if it names none
  kModelIfAny,  // likewise, or the server if the request names it
  kAllModels,
};

// In a request that may name a model or the server. No name means the server too.
inline constexpr absl::string_view kServerName = "inference.GRPCInferenceService";

// The view lives forever.
struct MethodAccess {
  absl::string_view name;  // "/package.Service/Method", or an HTTP path
  RoleSet roles;           // any one suffices
  Scope scope = Scope::kServer;
  uint32_t model_field = 0;  // the request's field with the model; 0: the caller finds it
};

inline constexpr RoleSet kMayInfer = Role::kInfer;

inline constexpr MethodAccess kModelInferAccess{"/inference.GRPCInferenceService/ModelInfer",
                                                kMayInfer, Scope::kModel, 0};
inline constexpr MethodAccess kModelStreamInferAccess{
    "/inference.GRPCInferenceService/ModelStreamInfer", kMayInfer, Scope::kModel, 0};

// For unknown paths, or methods that a path lacks. Any role may know which paths exist: /docs lists
// them.
inline constexpr RoleSet kAnyRole =
    RoleSet(Role::kInfer) | Role::kHealth | Role::kMetrics | Role::kControl | Role::kReflection;
inline constexpr MethodAccess kUnknownPathAccess{"", kAnyRole, Scope::kServer, 0};

// Sorted by name. While rules are in force, no others can be called. Pure.
absl::Span<const MethodAccess> AllMethodAccess();

// An unlisted name gives a method that no role may call, so that a forgotten method is closed. The
// referent lives forever. Thread-safe.
const MethodAccess& AccessOf(absl::string_view name);

// A caller's rules, by index in the policy that made this; without heap memory.
using RuleSet = std::bitset<kMaxAccessRules>;

// The result of Gate::Enter(). A stream's credentials are judged again when the rules have changed.
struct Grant {
  uint64_t version = 0;  // the rules'; 0: no grant
  RuleSet rules;
  uint32_t tenant = 0;  // AccessPolicy::TenantOf()
};

}  // namespace mpsd
