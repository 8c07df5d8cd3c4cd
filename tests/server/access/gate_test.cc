#include "server/access/gate.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "tests/server/access/rules.h"

namespace mpsd {
namespace {

const Credentials kOps{"Bearer ops-secret", false, {}};

TEST(Gate, IsOpenUntilRulesAreInForce) {
  Gate gate;
  EXPECT_FALSE(gate.in_force());
  gate.SetRules(AccessRules());
  EXPECT_FALSE(gate.in_force());
  gate.SetRules(TestRules({}));
  EXPECT_TRUE(gate.in_force());
  gate.SetRules(AccessRules());
  EXPECT_FALSE(gate.in_force());
}

TEST(Gate, WithoutRulesNobodyEnters) {
  const Gate gate;
  Grant grant;
  EXPECT_EQ(gate.Enter(kModelInferAccess, kOps, &grant), Verdict::kDenied);
  EXPECT_FALSE(gate.MayUse(kModelInferAccess, grant, "m").has_value());
}

TEST(Gate, AGrantIsGoodForItsRulesAndStaleForOthers) {
  Gate gate;
  gate.SetRules(TestRules({TokenRule("ops", Role::kInfer, {"a"})}));
  Grant grant;
  ASSERT_EQ(gate.Enter(kModelInferAccess, kOps, &grant), Verdict::kAllowed);
  EXPECT_EQ(gate.MayUse(kModelInferAccess, grant, "a"), Verdict::kAllowed);
  EXPECT_EQ(gate.MayUse(kModelInferAccess, grant, "b"), Verdict::kDenied);
  gate.SetRules(TestRules({TokenRule("embedder", Role::kInfer)}));
  EXPECT_FALSE(gate.MayUse(kModelInferAccess, grant, "a").has_value());
  EXPECT_EQ(gate.Enter(kModelInferAccess, kOps, &grant), Verdict::kDenied);
}

TEST(Gate, AGrantStaysGoodWhenTheSameRulesAreReadAgain) {
  Gate gate;
  gate.SetRules(TestRules({TokenRule("ops", Role::kInfer, {"a"})}));
  Grant grant;
  ASSERT_EQ(gate.Enter(kModelInferAccess, kOps, &grant), Verdict::kAllowed);
  gate.SetRules(TestRules({TokenRule("ops", Role::kInfer, {"a"})}));
  EXPECT_EQ(gate.MayUse(kModelInferAccess, grant, "a"), Verdict::kAllowed);
  gate.SetRules(TestRules({TokenRule("ops", Role::kInfer, {"b"})}));
  EXPECT_FALSE(gate.MayUse(kModelInferAccess, grant, "a").has_value());
}

TEST(Gate, RatesAreInForceWithTheirRules) {
  Gate gate;
  AccessRule limited = TokenRule("ops", Role::kInfer);
  limited.rate = {1, 1};
  gate.SetRules(TestRules({limited}));
  Grant grant;
  ASSERT_EQ(gate.Enter(kModelInferAccess, kOps, &grant), Verdict::kAllowed);
  EXPECT_EQ(gate.rates()->Take(grant.tenant, 1, 0), 0);
  EXPECT_GT(gate.rates()->Take(grant.tenant, 1, 0), 0);
  gate.SetRules(TestRules({limited}));
  EXPECT_GT(gate.rates()->Take(grant.tenant, 1, 0), 0) << "the same rules, read again";
  gate.SetRules(AccessRules());
  EXPECT_EQ(gate.rates()->Take(grant.tenant, 1, 0), 0);
}

TEST(Gate, AGrantThatWasNeverGivenIsStale) {
  Gate gate;
  gate.SetRules(TestRules({TokenRule("ops", Role::kInfer)}));
  EXPECT_FALSE(gate.MayUse(kModelInferAccess, Grant(), "a").has_value());
}

TEST(Gate, RulesChangeWhileCallsCome) {
  Gate gate;
  gate.SetRules(TestRules({TokenRule("ops", Role::kInfer)}));
  std::thread changer([&gate] {
    for (int i = 0; i < 200; ++i) {
      const std::vector<std::string> models(i % 2, "m");  // none: of all models
      gate.SetRules(TestRules({TokenRule("ops", Role::kInfer, models)}));
    }
  });
  for (int i = 0; i < 2000; ++i) {
    Grant grant;
    ASSERT_EQ(gate.Enter(kModelInferAccess, kOps, &grant), Verdict::kAllowed);
    ASSERT_EQ(gate.MayUse(kModelInferAccess, grant, "m").value_or(Verdict::kAllowed),
              Verdict::kAllowed);
  }
  changer.join();
}

TEST(Gate, SaysTheVerdictAsAStatusThatTellsNothing) {
  EXPECT_TRUE(StatusOf(Verdict::kAllowed).ok());
  EXPECT_EQ(StatusOf(Verdict::kUnauthenticated),
            absl::UnauthenticatedError("valid credentials are required for this call"));
  EXPECT_EQ(StatusOf(Verdict::kDenied),
            absl::PermissionDeniedError("these credentials do not allow this call"));
}

}  // namespace
}  // namespace mpsd
