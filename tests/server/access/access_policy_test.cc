#include "server/access/access_policy.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "proto/base/limits.h"
#include "tests/server/access/rules.h"

namespace mpsd {
namespace {

constexpr Verdict kAllowed = Verdict::kAllowed;
constexpr Verdict kUnauthenticated = Verdict::kUnauthenticated;
constexpr Verdict kDenied = Verdict::kDenied;

const MethodAccess& Load() {
  return AccessOf("/inference.GRPCInferenceService/RepositoryModelLoad");
}
const MethodAccess& Statistics() {
  return AccessOf("/inference.GRPCInferenceService/ModelStatistics");
}

Credentials Header(absl::string_view text) { return {text, false, {}}; }

// The verdict of the whole way: entering, then the model.
Verdict Judge(const AccessPolicy& policy, const MethodAccess& method,
              const Credentials& credentials, absl::string_view model = "m") {
  RuleSet rules;
  const Verdict entered = policy.Enter(method, credentials, &rules);
  return entered == kAllowed ? policy.MayUse(method, rules, model) : entered;
}

TEST(AccessPolicy, RefusesEveryMethodWithoutCredentials) {
  const AccessPolicy policy(TestRules({TokenRule("ops", RoleSet(Role::kControl) | Role::kInfer)}));
  for (const MethodAccess& method : AllMethodAccess()) {
    EXPECT_EQ(Judge(policy, method, {}), kUnauthenticated) << method.name;
  }
  EXPECT_EQ(Judge(policy, AccessOf("/a.B/C"), {}), kUnauthenticated);
}

uint32_t TenantOf(const AccessPolicy& policy, const Credentials& credentials) {
  RuleSet rules;
  policy.Enter(kModelInferAccess, credentials, &rules);
  return policy.TenantOf(rules, credentials);
}

TEST(AccessPolicy, CredentialsThatMayInferAreTenants) {
  const std::vector<absl::string_view> names = {"client"};
  const Credentials certificate = {"", false, names};
  const AccessPolicy policy(
      TestRules({TokenRule("idle", Role::kMetrics), TokenRule("ops", Role::kInfer, {"a"}),
                 TokenRule("ops", Role::kInfer, {"b"}), TokenRule("embedder", Role::kInfer),
                 CertificateRule("client", Role::kInfer)}));
  EXPECT_EQ(TenantOf(policy, Header("Bearer ops-secret")), 1u);
  EXPECT_EQ(TenantOf(policy, Header("Bearer embedder-secret")), 2u);
  EXPECT_EQ(TenantOf(policy, certificate), 3u);
  EXPECT_EQ(TenantOf(policy, {"Bearer ops-secret", false, names}), 1u) << "the first rule's";
  EXPECT_EQ(TenantOf(policy, Header("Bearer idle-secret")), 0u);
}

TEST(AccessPolicy, OneCredentialIsNoTenant) {
  const AccessPolicy policy(
      TestRules({TokenRule("ops", Role::kInfer, {"a"}), TokenRule("ops", Role::kInfer, {"b"})}));
  EXPECT_EQ(TenantOf(policy, Header("Bearer ops-secret")), 0u);
}

TEST(AccessPolicy, ARateIsOfItsCredential) {
  AccessRule limited = TokenRule("ops", Role::kInfer, {"b"});
  limited.rate = {100, 5};
  const AccessPolicy policy(TestRules({TokenRule("ops", Role::kInfer, {"a"}), limited}));
  EXPECT_EQ(TenantOf(policy, Header("Bearer ops-secret")), 1u) << "alone, but it has a rate";
  EXPECT_EQ(policy.rates().at(1), (RowRate{100, 5}));
  EXPECT_EQ(policy.rates().at(0), RowRate{}) << "those who are not told apart";
}

// Names two tenants, by their numbers.
AccessRules NamedTenants() {
  AccessRules rules =
      TestRules({TokenRule("ops", Role::kInfer), TokenRule("embedder", Role::kInfer)});
  rules.tenants = {"x-tenant", {{"a", {10, 1}}, {"b", {}}}, {7, 7}};
  return rules;
}

class OneHeader final : public HeaderSource {
 public:
  OneHeader(std::string name, std::string value)
      : name_(std::move(name)), value_(std::move(value)) {}
  absl::string_view Header(absl::string_view name) const override {
    return name == name_ ? absl::string_view(value_) : absl::string_view();
  }

 private:
  const std::string name_;
  const std::string value_;
};

TEST(AccessPolicy, AHeaderNamesTheTenantInPlaceOfTheCredential) {
  const AccessPolicy policy(NamedTenants());
  const auto tenant_of = [&policy](const HeaderSource* headers) {
    return TenantOf(policy, {"Bearer ops-secret", false, {}, headers});
  };
  const OneHeader first("x-tenant", "a");
  const OneHeader second("x-tenant", "b");
  const OneHeader unknown("x-tenant", "c");
  const OneHeader other("x-other", "a");
  EXPECT_EQ(tenant_of(&first), 1u);
  EXPECT_EQ(tenant_of(&second), 2u);
  EXPECT_EQ(tenant_of(&unknown), kMaxTenants - 1);
  EXPECT_EQ(tenant_of(&other), kMaxTenants - 1);
  EXPECT_EQ(tenant_of(nullptr), kMaxTenants - 1);
  EXPECT_EQ(policy.rates().at(1), (RowRate{10, 1}));
  EXPECT_EQ(policy.rates().at(2), RowRate{});
  EXPECT_EQ(policy.rates().at(kMaxTenants - 1), (RowRate{7, 7}));
}

TEST(AccessPolicy, TheLastOfManyTenantsAreOneTogether) {
  std::vector<AccessRule> rules;
  for (uint32_t i = 0; i < kMaxTenants + 3; ++i) {
    rules.push_back(CertificateRule(std::to_string(i), Role::kInfer));
  }
  const AccessPolicy policy(TestRules(rules));
  const auto tenant_of = [&policy](const std::string& name) {
    const std::vector<absl::string_view> names = {name};
    return TenantOf(policy, {"", false, names});
  };
  EXPECT_EQ(tenant_of("0"), 1u);
  EXPECT_EQ(tenant_of(std::to_string(kMaxTenants - 3)), kMaxTenants - 2);
  EXPECT_EQ(tenant_of(std::to_string(kMaxTenants - 2)), kMaxTenants - 1);
  EXPECT_EQ(tenant_of(std::to_string(kMaxTenants + 2)), kMaxTenants - 1);
}

TEST(AccessPolicy, WithoutARuleNothingIsAllowed) {
  const AccessPolicy policy(TestRules({}));
  for (const MethodAccess& method : AllMethodAccess()) {
    EXPECT_EQ(Judge(policy, method, Header("Bearer ops-secret")), kDenied) << method.name;
  }
}

TEST(AccessPolicy, AMethodThatIsNotListedIsNobodys) {
  RoleSet all;
  for (size_t i = 0; i < kRoleNames.size(); ++i) all = all | static_cast<Role>(i);
  const AccessPolicy policy(TestRules({TokenRule("ops", all)}, all));
  EXPECT_EQ(Judge(policy, AccessOf("/a.B/C"), Header("Bearer ops-secret")), kDenied);
  for (const MethodAccess& method : AllMethodAccess()) {
    EXPECT_EQ(Judge(policy, method, Header("Bearer ops-secret")), kAllowed) << method.name;
  }
}

TEST(AccessPolicy, ATokenMustBeOursToTheLastByte) {
  const AccessPolicy policy(TestRules({TokenRule("ops", Role::kInfer)}));
  EXPECT_EQ(Judge(policy, kModelInferAccess, Header("Bearer ops-secret")), kAllowed);
  EXPECT_EQ(Judge(policy, kModelInferAccess, Header("bearer ops-secret")), kAllowed);
  for (const char* header :
       {"", "Bearer", "Bearer ", "Bearer ops-secre", "Bearer ops-secret ", "Bearer  ops-secret",
        "Bearer OPS-SECRET", "Basic ops-secret", "ops-secret", "Bearer other"}) {
    EXPECT_EQ(Judge(policy, kModelInferAccess, Header(header)), kUnauthenticated) << header;
  }
}

TEST(AccessPolicy, TwoHeadersAreNoCredential) {
  const AccessPolicy policy(TestRules({TokenRule("ops", Role::kInfer)}));
  const Credentials twice{"Bearer ops-secret", true, {}};
  EXPECT_EQ(Judge(policy, kModelInferAccess, twice), kUnauthenticated);
}

TEST(AccessPolicy, ARoleAllowsItsMethodsAndNoOthers) {
  const AccessPolicy policy(
      TestRules({TokenRule("embedder", Role::kInfer), TokenRule("ops", Role::kControl)}));
  EXPECT_EQ(Judge(policy, kModelInferAccess, Header("Bearer embedder-secret")), kAllowed);
  EXPECT_EQ(Judge(policy, kModelStreamInferAccess, Header("Bearer embedder-secret")), kAllowed);
  EXPECT_EQ(Judge(policy, Load(), Header("Bearer embedder-secret")), kDenied);
  EXPECT_EQ(Judge(policy, Load(), Header("Bearer ops-secret")), kAllowed);
  EXPECT_EQ(Judge(policy, kModelInferAccess, Header("Bearer ops-secret")), kDenied);
  EXPECT_EQ(Judge(policy, kModelInferAccess, Header("Bearer idle-secret")), kDenied);
}

TEST(AccessPolicy, AModelRuleHoldsItsRoleOnly) {
  const AccessPolicy policy(
      TestRules({TokenRule("ops", Role::kInfer, {"a", "b"}), TokenRule("ops", Role::kControl)}));
  const Credentials ops = Header("Bearer ops-secret");
  EXPECT_EQ(Judge(policy, kModelInferAccess, ops, "a"), kAllowed);
  EXPECT_EQ(Judge(policy, kModelInferAccess, ops, "b"), kAllowed);
  for (const char* model : {"c", "", "A", "a "}) {
    EXPECT_EQ(Judge(policy, kModelInferAccess, ops, model), kDenied) << model;
  }
  EXPECT_EQ(Judge(policy, Load(), ops, "c"), kAllowed);
}

// Naming no model asks for all of them.
TEST(AccessPolicy, WhoIsLimitedToAModelLearnsNothingOfTheOthers) {
  const AccessPolicy policy(TestRules({TokenRule("ops", Role::kMetrics, {"a"})}));
  const Credentials ops = Header("Bearer ops-secret");
  EXPECT_EQ(Judge(policy, Statistics(), ops, "a"), kAllowed);
  EXPECT_EQ(Judge(policy, Statistics(), ops, ""), kDenied);
  EXPECT_EQ(Judge(policy, AccessOf("/metrics"), ops), kDenied);
  EXPECT_EQ(Judge(policy, AccessOf("/mpsd.control.v1.Control/Status"), ops), kDenied);
}

TEST(AccessPolicy, HealthOfAModelIsToldToWhoMayKnowOfIt) {
  const AccessPolicy policy(TestRules({TokenRule("ops", Role::kHealth, {"a"})}));
  const Credentials ops = Header("Bearer ops-secret");
  for (const char* method : {"/grpc.health.v1.Health/Check", "/grpc.health.v1.Health/Watch"}) {
    const MethodAccess& health = AccessOf(method);
    EXPECT_EQ(Judge(policy, health, ops, "a"), kAllowed);
    EXPECT_EQ(Judge(policy, health, ops, "b"), kDenied);
    EXPECT_EQ(Judge(policy, health, ops, ""), kAllowed) << "of the server";
    EXPECT_EQ(Judge(policy, health, ops, "inference.GRPCInferenceService"), kAllowed);
  }
}

TEST(AccessPolicy, WhatIsOpenNeedsNothingAndForgivesWrongCredentials) {
  const AccessPolicy policy(TestRules({}, Role::kHealth));
  const MethodAccess& check = AccessOf("/grpc.health.v1.Health/Check");
  EXPECT_EQ(Judge(policy, check, {}), kAllowed);
  EXPECT_EQ(Judge(policy, check, Header("Bearer nobody")), kAllowed);
  EXPECT_EQ(Judge(policy, AccessOf("/readyz"), {}), kAllowed);
  EXPECT_EQ(Judge(policy, kModelInferAccess, {}), kUnauthenticated);
  EXPECT_EQ(Judge(policy, AccessOf("/metrics"), {}), kUnauthenticated);
}

TEST(AccessPolicy, ACertificateIsKnownByAnyOfItsNames) {
  const AccessPolicy policy(
      TestRules({CertificateRule("a.example", Role::kInfer), CertificateRule("*", Role::kHealth)}));
  const std::array<absl::string_view, 2> names = {"cn", "a.example"};
  const std::array<absl::string_view, 1> other = {"b.example"};
  EXPECT_EQ(Judge(policy, kModelInferAccess, {"", false, names}), kAllowed);
  EXPECT_EQ(Judge(policy, kModelInferAccess, {"", false, other}), kDenied);
  EXPECT_EQ(Judge(policy, AccessOf("/grpc.health.v1.Health/Check"), {"", false, other}), kAllowed);
}

TEST(AccessPolicy, ATokensNameIsNoCertificates) {
  const AccessPolicy policy(TestRules({TokenRule("ops", Role::kInfer)}));
  const std::array<absl::string_view, 2> names = {"ops", ""};
  EXPECT_EQ(Judge(policy, kModelInferAccess, {"", false, names}), kDenied);
}

TEST(AccessPolicy, ACertificateAndATokenAddUpButAWrongTokenSpoilsBoth) {
  const AccessPolicy policy(
      TestRules({CertificateRule("a", Role::kInfer), TokenRule("ops", Role::kControl)}));
  const std::array<absl::string_view, 1> names = {"a"};
  EXPECT_EQ(Judge(policy, Load(), {"Bearer ops-secret", false, names}), kAllowed);
  EXPECT_EQ(Judge(policy, kModelInferAccess, {"Bearer ops-secret", false, names}), kAllowed);
  EXPECT_EQ(Judge(policy, kModelInferAccess, {"Bearer wrong", false, names}), kUnauthenticated);
}

TEST(AccessPolicy, WithAControlSocketOnlyControlIsNotOpen) {
  const AccessPolicy policy(ControlOnItsSocketOnly());
  EXPECT_EQ(Judge(policy, kModelInferAccess, {}), kAllowed);
  EXPECT_EQ(Judge(policy, Statistics(), {}, ""), kAllowed);
  EXPECT_EQ(Judge(policy, Load(), {}), kUnauthenticated);
  EXPECT_EQ(Judge(policy, AccessOf("/inference.GRPCInferenceService/LogSettings"), {}),
            kUnauthenticated);
}

TEST(AccessPolicy, TheLastRuleAndTheLastTokenCount) {
  AccessRules access = TestRules({});
  while (access.tokens.size() < kMaxAccessTokens) {
    const std::string name = "t" + std::to_string(access.tokens.size());
    access.tokens.push_back({name, Sha256(name).value()});
  }
  while (access.rules.size() + 1 < kMaxAccessRules) access.rules.push_back(TokenRule("ops", {}));
  access.rules.push_back(TokenRule(access.tokens.back().name, Role::kInfer));
  const AccessPolicy policy(access);
  EXPECT_EQ(Judge(policy, kModelInferAccess, Header("Bearer t255")), kAllowed);
  EXPECT_EQ(Judge(policy, kModelInferAccess, Header("Bearer t254")), kDenied);
}

}  // namespace
}  // namespace mpsd
