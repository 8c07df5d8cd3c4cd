#include "server/access/method_access.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"

namespace mpsd {
namespace {

using testing::UnorderedElementsAre;

// The methods that these roles, and no others, may call; without their service's name.
std::vector<std::string> MethodsOf(RoleSet roles) {
  std::vector<std::string> names;
  for (const MethodAccess& method : AllMethodAccess()) {
    if (!(method.roles == roles)) continue;
    const bool rpc = absl::StrContains(method.name, ".");
    names.emplace_back(rpc ? method.name.substr(method.name.rfind('/') + 1) : method.name);
  }
  return names;
}

TEST(MethodAccess, IsFoundByItsNameAndByNoOther) {
  for (const MethodAccess& method : AllMethodAccess()) {
    EXPECT_EQ(&AccessOf(method.name), &method) << method.name;
    const std::string longer = std::string(method.name) + "x";
    EXPECT_TRUE(AccessOf(longer).roles.empty()) << longer;
    EXPECT_TRUE(AccessOf(method.name.substr(1)).roles.empty());
  }
  EXPECT_TRUE(AccessOf("").roles.empty());
  EXPECT_TRUE(AccessOf("/").roles.empty());
  EXPECT_TRUE(AccessOf("/zzz").roles.empty());
}

TEST(MethodAccess, IsSortedByName) {
  const auto methods = AllMethodAccess();
  for (size_t i = 1; i < methods.size(); ++i) {
    EXPECT_LT(methods[i - 1].name, methods[i].name);
  }
}

TEST(MethodAccess, WhatChangesTheServerTakesControl) {
  EXPECT_THAT(MethodsOf(Role::kControl),
              UnorderedElementsAre("Forgive", "LogSettings", "TraceSetting", "RepositoryModelLoad",
                                   "RepositoryModelUnload"));
}

TEST(MethodAccess, WhatTellsOfTheServerTakesMetricsOrControl) {
  EXPECT_THAT(MethodsOf(RoleSet(Role::kMetrics) | Role::kControl),
              UnorderedElementsAre("ModelStatistics", "RepositoryIndex", "Status"));
  EXPECT_THAT(MethodsOf(Role::kMetrics), UnorderedElementsAre("/metrics", "StreamCoreMetrics"));
}

TEST(MethodAccess, ProbesTakeHealth) {
  EXPECT_THAT(MethodsOf(Role::kHealth),
              UnorderedElementsAre("Check", "Watch", "/health", "/livez", "/readyz"));
  EXPECT_THAT(MethodsOf(RoleSet(Role::kHealth) | Role::kInfer),
              UnorderedElementsAre("ModelReady", "ServerLive", "ServerReady", "/v2/health/live",
                                   "/v2/health/ready"));
}

TEST(MethodAccess, EachOfTheOthersTakesInferOrReflection) {
  EXPECT_THAT(MethodsOf(Role::kReflection),
              UnorderedElementsAre("ServerReflectionInfo", "ServerReflectionInfo"));
  EXPECT_THAT(MethodsOf(Role::kInfer),
              UnorderedElementsAre("ModelInfer", "ModelStreamInfer", "ModelConfig", "ModelMetadata",
                                   "ServerMetadata", "SystemSharedMemoryRegister",
                                   "SystemSharedMemoryStatus", "SystemSharedMemoryUnregister",
                                   "CudaSharedMemoryRegister", "CudaSharedMemoryStatus",
                                   "CudaSharedMemoryUnregister", "/info", "/v1/models"));
  EXPECT_EQ(AccessOf("/docs").roles, RoleSet(Role::kInfer) | Role::kHealth | Role::kMetrics |
                                         Role::kControl | Role::kReflection);
  EXPECT_EQ(AllMethodAccess().size(), 36u) << "the methods of all these tests";
}

}  // namespace
}  // namespace mpsd
