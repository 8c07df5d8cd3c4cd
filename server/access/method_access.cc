#include "server/access/method_access.h"

#include <algorithm>
#include <iterator>

namespace mpsd {
namespace {

constexpr RoleSet kProbe = RoleSet(Role::kHealth) | Role::kInfer;
constexpr RoleSet kObserve = RoleSet(Role::kMetrics) | Role::kControl;
constexpr RoleSet kReflect = Role::kReflection;
constexpr RoleSet kControl = Role::kControl;

// Sorted by name.
constexpr MethodAccess kMethods[] = {
    {"/docs", kAnyRole, Scope::kServer},
    {"/grpc.health.v1.Health/Check", Role::kHealth, Scope::kModelIfAny, 1},
    {"/grpc.health.v1.Health/Watch", Role::kHealth, Scope::kModelIfAny, 1},
    {"/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", kReflect, Scope::kServer},
    {"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", kReflect, Scope::kServer},
    {"/health", Role::kHealth, Scope::kServer},
    {"/inference.GRPCInferenceService/CudaSharedMemoryRegister", kMayInfer, Scope::kServer},
    {"/inference.GRPCInferenceService/CudaSharedMemoryStatus", kMayInfer, Scope::kServer},
    {"/inference.GRPCInferenceService/CudaSharedMemoryUnregister", kMayInfer, Scope::kServer},
    {"/inference.GRPCInferenceService/LogSettings", kControl, Scope::kAllModels},
    {"/inference.GRPCInferenceService/ModelConfig", kMayInfer, Scope::kModel, 1},
    kModelInferAccess,
    {"/inference.GRPCInferenceService/ModelMetadata", kMayInfer, Scope::kModel, 1},
    {"/inference.GRPCInferenceService/ModelReady", kProbe, Scope::kModel, 1},
    {"/inference.GRPCInferenceService/ModelStatistics", kObserve, Scope::kModel, 1},
    kModelStreamInferAccess,
    {"/inference.GRPCInferenceService/RepositoryIndex", kObserve, Scope::kAllModels},
    {"/inference.GRPCInferenceService/RepositoryModelLoad", kControl, Scope::kModel, 2},
    {"/inference.GRPCInferenceService/RepositoryModelUnload", kControl, Scope::kModel, 2},
    {"/inference.GRPCInferenceService/ServerLive", kProbe, Scope::kServer},
    {"/inference.GRPCInferenceService/ServerMetadata", kMayInfer, Scope::kServer},
    {"/inference.GRPCInferenceService/ServerReady", kProbe, Scope::kServer},
    {"/inference.GRPCInferenceService/SystemSharedMemoryRegister", kMayInfer, Scope::kServer},
    {"/inference.GRPCInferenceService/SystemSharedMemoryStatus", kMayInfer, Scope::kServer},
    {"/inference.GRPCInferenceService/SystemSharedMemoryUnregister", kMayInfer, Scope::kServer},
    {"/inference.GRPCInferenceService/TraceSetting", kControl, Scope::kAllModels},
    {"/info", kMayInfer, Scope::kModel},
    {"/livez", Role::kHealth, Scope::kServer},
    {"/metrics", Role::kMetrics, Scope::kAllModels},
    {"/mpsd.control.v1.Control/Forgive", kControl, Scope::kModel, 1},
    {"/mpsd.control.v1.Control/Status", kObserve, Scope::kAllModels},
    {"/readyz", Role::kHealth, Scope::kServer},
    {"/v1/models", kMayInfer, Scope::kModel},
    {"/v2/health/live", kProbe, Scope::kServer},
    {"/v2/health/ready", kProbe, Scope::kServer},
    {"/xds.service.orca.v3.OpenRcaService/StreamCoreMetrics", Role::kMetrics, Scope::kAllModels},
};

constexpr bool IsBefore(const MethodAccess& a, const MethodAccess& b) { return a.name < b.name; }
static_assert(std::is_sorted(std::begin(kMethods), std::end(kMethods), IsBefore));

constexpr MethodAccess kNobodys{"", RoleSet(), Scope::kAllModels};

}  // namespace

absl::Span<const MethodAccess> AllMethodAccess() { return kMethods; }

const MethodAccess& AccessOf(absl::string_view name) {
  const auto* const end = std::end(kMethods);
  const auto* const found = std::lower_bound(
      std::begin(kMethods), end, name,
      [](const MethodAccess& method, absl::string_view wanted) { return method.name < wanted; });
  return found != end && found->name == name ? *found : kNobodys;
}

}  // namespace mpsd
