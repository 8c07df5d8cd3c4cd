#include "tests/crash/call_history.h"

#include <cstring>
#include <string>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace mpsd::crash {
namespace {

using nlohmann::json;

Call CallOf(uint64_t id, uint32_t rows = 1) {
  Call call;
  call.id = id;
  call.rows = rows;
  call.sent_ns = 1'000'000;
  call.timeout_ns = 5'000'000;
  return call;
}

inference::ModelInferResponse AnswerTo(const Call& call) {
  inference::ModelInferResponse response;
  response.set_id("c" + std::to_string(call.id));
  response.add_raw_output_contents(Payload(PayloadPlan(), call));
  return response;
}

class CallHistoryTest : public testing::Test {
 protected:
  void End(const Call& call, const grpc::Status& status,
           const inference::ModelInferResponse& response, int64_t now_ns = 2'000'000) {
    history_.Sent();
    history_.Ended(call, status, response, now_ns);
  }
  json Report(uint64_t open = 0) const { return json::parse(history_.Report(open)); }

  CallHistory history_{PayloadPlan()};
};

TEST(Payload, IsTheCallsOwn) {
  const PayloadPlan plan;
  EXPECT_EQ(Payload(plan, CallOf(1)).size(), 4U * plan.width);
  EXPECT_EQ(Payload(plan, CallOf(1, 3)).size(), 12U * plan.width);
  EXPECT_EQ(Payload(plan, CallOf(1)), Payload(plan, CallOf(1)));
  EXPECT_NE(Payload(plan, CallOf(1)), Payload(plan, CallOf(2)));
}

TEST(Payload, APoisonedCallBeginsWithThePoison) {
  const PayloadPlan plan;
  Call call = CallOf(1, 2);
  call.poisoned = true;
  float first = 0;
  std::memcpy(&first, Payload(plan, call).data() + 4UL * plan.width, sizeof(first));
  EXPECT_EQ(first, plan.poison);
  std::memcpy(&first, Payload(plan, CallOf(1)).data(), sizeof(first));
  EXPECT_EQ(first, plan.first);
}

TEST_F(CallHistoryTest, RightAnswersAreCounted) {
  End(CallOf(1), grpc::Status::OK, AnswerTo(CallOf(1)));
  End(CallOf(2, 3), grpc::Status::OK, AnswerTo(CallOf(2, 3)));
  EXPECT_EQ(Report()["wrong"], 0);
  EXPECT_EQ(Report()["sent"], 2);
  EXPECT_EQ(Report()["ended"], 2);
  EXPECT_EQ(Report()["endings"], json({{"OK", 2}}));
}

TEST_F(CallHistoryTest, AnotherCallsBytesAreWrong) {
  inference::ModelInferResponse response = AnswerTo(CallOf(2));
  response.set_id("c1");
  End(CallOf(1), grpc::Status::OK, response);
  EXPECT_EQ(Report()["wrong"], 1);
}

TEST_F(CallHistoryTest, AnotherCallsIdIsWrong) {
  inference::ModelInferResponse response = AnswerTo(CallOf(1));
  response.set_id("c2");
  End(CallOf(1), grpc::Status::OK, response);
  EXPECT_EQ(Report()["wrong"], 1);
}

TEST_F(CallHistoryTest, OneBitIsWrong) {
  inference::ModelInferResponse response = AnswerTo(CallOf(1));
  (*response.mutable_raw_output_contents(0))[63] ^= 1;
  End(CallOf(1), grpc::Status::OK, response);
  EXPECT_EQ(Report()["wrong"], 1);
}

TEST_F(CallHistoryTest, NoOutputIsWrong) {
  inference::ModelInferResponse response;
  response.set_id("c1");
  End(CallOf(1), grpc::Status::OK, response);
  EXPECT_EQ(Report()["wrong"], 1);
}

TEST(CallHistory, EachOfSeveralOutputsHasTheBytes) {
  CallHistory history({.outputs = 2});
  inference::ModelInferResponse response = AnswerTo(CallOf(1));
  const auto wrong_after = [&] {
    history.Ended(CallOf(1), grpc::Status::OK, response, 2'000'000);
    return json::parse(history.Report(0))["wrong"].get<int>();
  };
  EXPECT_EQ(wrong_after(), 1) << "one of them is not there";
  response.add_raw_output_contents(response.raw_output_contents(0));
  EXPECT_EQ(wrong_after(), 1);
  (*response.mutable_raw_output_contents(1))[0] ^= 1;
  EXPECT_EQ(wrong_after(), 2);
}

TEST_F(CallHistoryTest, ErrorsAreCountedByCodeAndTextWithoutTheId) {
  const inference::ModelInferResponse none;
  End(CallOf(1), {grpc::StatusCode::UNAVAILABLE, "[request id: c1] worker lost"}, none);
  End(CallOf(2), {grpc::StatusCode::UNAVAILABLE, "worker lost"}, none);
  EXPECT_EQ(Report()["endings"], json({{"UNAVAILABLE: worker lost", 2}}));
  EXPECT_EQ(Report()["wrong"], 0);
}

TEST_F(CallHistoryTest, AnotherCallsErrorIsWrong) {
  End(CallOf(1), {grpc::StatusCode::UNAVAILABLE, "[request id: c12] worker lost"}, {});
  EXPECT_EQ(Report()["wrong"], 1);
}

TEST_F(CallHistoryTest, TheLatestEndingCounts) {
  End(CallOf(1), grpc::Status::OK, AnswerTo(CallOf(1)), 5'000'000);
  EXPECT_EQ(Report()["overdue_ms"], 0);
  End(CallOf(2), grpc::Status::OK, AnswerTo(CallOf(2)), 9'000'000);
  EXPECT_EQ(Report()["overdue_ms"], 3);
}

TEST_F(CallHistoryTest, PoisonThatWasAnsweredIsCounted) {
  Call call = CallOf(1);
  call.poisoned = true;
  End(call, grpc::Status::OK, AnswerTo(call));
  EXPECT_EQ(Report()["poisoned_answered"], 1);
  EXPECT_EQ(Report(7)["open"], 7);
}

}  // namespace
}  // namespace mpsd::crash
