#include "server/accept/call_gate.h"

#include <gmock/gmock.h>

#include "tests/server/accept/call_fixture.h"
#include "tests/server/access/rules.h"

namespace mpsd {
namespace {

using Code = grpc::StatusCode;

class CallGateTest : public CallFixture {
 protected:
  CallGateTest() {
    handler_.answers_at_once = true;
    ArmInfer();
  }

  // How a call with these authorization headers ends.
  Code InferWith(const std::vector<std::string>& headers, const std::string& model = "m") {
    const auto call = NewCall();
    for (const std::string& header : headers) call->context.AddMetadata("authorization", header);
    Start(call.get(), InferService::kMethod, InferBytes(model));
    PumpUntil(call->finished);
    return call->status.error_code();
  }
};

TEST_F(CallGateTest, WithoutRulesEverybodyPasses) {
  EXPECT_EQ(InferWith({}), Code::OK);
  EXPECT_EQ(InferWith({"Bearer nobody's"}), Code::OK);
}

TEST_F(CallGateTest, ATokenOfARulePasses) {
  gate_.SetRules(TestRules({TokenRule("ops", Role::kInfer)}));
  EXPECT_EQ(InferWith({"Bearer ops-secret"}), Code::OK);
  EXPECT_EQ(access_metrics_.unauthenticated_calls, 0u);
}

TEST_F(CallGateTest, NoTokenAndAnUnknownOneAreUnauthenticated) {
  gate_.SetRules(TestRules({TokenRule("ops", Role::kInfer)}));
  EXPECT_EQ(InferWith({}), Code::UNAUTHENTICATED);
  EXPECT_EQ(InferWith({"Bearer nobody's"}), Code::UNAUTHENTICATED);
  EXPECT_EQ(InferWith({"ops-secret"}), Code::UNAUTHENTICATED);
  EXPECT_EQ(access_metrics_.unauthenticated_calls, 3u);
  EXPECT_EQ(handler_.count(), 0u);
}

TEST_F(CallGateTest, SeveralHeadersAreNoCredential) {
  gate_.SetRules(TestRules({TokenRule("ops", Role::kInfer)}));
  EXPECT_EQ(InferWith({"Bearer ops-secret", "Bearer ops-secret"}), Code::UNAUTHENTICATED);
}

TEST_F(CallGateTest, ATokenOfNoSuchRuleIsDenied) {
  gate_.SetRules(TestRules({TokenRule("ops", Role::kHealth)}));
  EXPECT_EQ(InferWith({"Bearer ops-secret"}), Code::PERMISSION_DENIED);
  EXPECT_EQ(access_metrics_.denied_calls, 1u);
}

TEST_F(CallGateTest, AModelOfNoRuleIsDenied) {
  gate_.SetRules(TestRules({TokenRule("ops", Role::kInfer, {"m"})}));
  EXPECT_EQ(InferWith({"Bearer ops-secret"}, "m"), Code::OK);
  EXPECT_EQ(InferWith({"Bearer ops-secret"}, "other"), Code::PERMISSION_DENIED);
  EXPECT_EQ(access_metrics_.denied_calls, 1u);
}

TEST_F(CallGateTest, AnOpenRoleNeedsNoCredentials) {
  gate_.SetRules(TestRules({}, Role::kInfer));
  EXPECT_EQ(InferWith({}), Code::OK);
  EXPECT_EQ(InferWith({"Bearer nobody's"}), Code::OK);
}

}  // namespace
}  // namespace mpsd
