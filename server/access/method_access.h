// MethodAccess: the list of all callable methods, each with the roles that may call it; Grant.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <string_view>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/base/limits.h"

namespace mpsd {

// The right to call a group of methods, given by a rule. Each method names the roles that may call
// it; method_access.cc has the list.
enum class Role : uint8_t {
  kInfer,       // infer, and ask about models and the client's own memory
  kHealth,      // ask whether the server and its models are ready
  kMetrics,     // read counters: /metrics, statistics, the status of the workers
  kControl,     // change the daemon: load and unload models, settings
  kReflection,  // read the descriptors of the services
};

// As the config writes them, in the order of Role.
inline constexpr std::array<std::string_view, 5> kRoleNames = {"infer", "health", "metrics",
                                                               "control", "reflection"};

// A set of roles, one word in size. Thread-compatible.
class RoleSet {
 public:
  constexpr RoleSet() = default;
  constexpr RoleSet(Role role) : bits_(Bit(role)) {}  // NOLINT: a role is a set of one

  constexpr bool empty() const { return bits_ == 0; }
  // Whether the two sets have a role in common.
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
  kServer,      // not a model
  kModel,       // the model that the request names; all models if it names none
  kModelIfAny,  // the same, or the server if the request names it
  kAllModels,   // all models at once
};

// The server's name in a request that may name a model or the server. No name means the server too.
inline constexpr absl::string_view kServerName = "inference.GRPCInferenceService";

// A row of the list. A call looks its row up once by name and keeps the reference for the gate. A
// value; the view lives forever.
struct MethodAccess {
  absl::string_view name;  // "/package.Service/Method", or the path of an HTTP request
  RoleSet roles;           // any one suffices
  Scope scope = Scope::kServer;
  uint32_t model_field =
      0;  // the field of the request that names the model; 0: the caller finds it
};

inline constexpr RoleSet kMayInfer = Role::kInfer;

inline constexpr MethodAccess kModelInferAccess{"/inference.GRPCInferenceService/ModelInfer",
                                                kMayInfer, Scope::kModel, 0};
inline constexpr MethodAccess kModelStreamInferAccess{
    "/inference.GRPCInferenceService/ModelStreamInfer", kMayInfer, Scope::kModel, 0};

// For a path that does not exist, or has other methods. A caller of anything may know which paths
// exist: /docs lists them.
inline constexpr RoleSet kAnyRole =
    RoleSet(Role::kInfer) | Role::kHealth | Role::kMetrics | Role::kControl | Role::kReflection;
inline constexpr MethodAccess kUnknownPathAccess{"", kAnyRole, Scope::kServer, 0};

// All methods of both doors, gRPC and HTTP, sorted by name. While rules are in force, no others can
// be called. Pure.
absl::Span<const MethodAccess> AllMethodAccess();

// The method of this name. An unlisted name gives a method that no role may call, so that a
// forgotten method is closed and not open. The referent lives forever. Thread-safe.
const MethodAccess& AccessOf(absl::string_view name);

// The rules that apply to a caller, by index. Fixed in size, so that a call keeps it without the
// heap. Valid only for the policy that made it.
using RuleSet = std::bitset<kMaxAccessRules>;

// A caller's result from Gate::Enter(). A value kept with the call, so that credentials are judged
// once: for a stream at its beginning, and again when the rules have changed.
struct Grant {
  uint64_t version = 0;  // version of the rules; 0: no grant
  RuleSet rules;
  uint32_t tenant = 0;  // AccessPolicy::TenantOf()
};

}  // namespace mpsd
