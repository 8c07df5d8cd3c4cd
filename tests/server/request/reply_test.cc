#include "server/request/reply.h"

#include <gtest/gtest.h>

#include "tests/fakes/fake_call.h"

namespace mpsd {
namespace {

TEST(Reply, IsOwedUntilItIsGiven) {
  RecordingReplySink sink;
  Reply reply(&sink);
  EXPECT_TRUE(reply.owed());
  reply.Fail(absl::UnavailableError("no"));
  EXPECT_FALSE(reply.owed());
  EXPECT_EQ(sink.endings(), 1);
  EXPECT_EQ(sink.status(), absl::UnavailableError("no"));
}

TEST(Reply, TheDutyMoves) {
  RecordingReplySink sink;
  Reply first(&sink);
  Reply second(std::move(first));
  EXPECT_FALSE(first.owed());
  second.Send({});
  EXPECT_EQ(sink.endings(), 1);
}

TEST(ReplyDeath, AReplyThatIsNotGivenIsAFalseBelief) {
  RecordingReplySink sink;
  EXPECT_DEATH({ const Reply forgotten(&sink); }, "check failed");
}

TEST(ReplyDeath, AReplyIsGivenOnce) {
  RecordingReplySink sink;
  Reply reply(&sink);
  reply.Fail(absl::OkStatus());
  EXPECT_DEATH(reply.Send({}), "check failed");
}

TEST(Request, ResetMakesItAsNew) {
  FakeCall call;
  call.Describe(3, {2}, 5, 6);
  call.request.suspect = true;
  call.request.dispatches = 2;
  call.request.answers = 1;
  call.request.cancelled = true;
  call.request.is_answered = true;
  call.request.patience_ns = 7;
  call.request.sums.infer_ns = 8;
  call.request.queued_bytes = 9;
  call.request.given_up = absl::CancelledError("given up");
  call.request.state = RequestState::kEnded;
  call.request.reply.Fail(absl::OkStatus());
  call.request.Reset();
  EXPECT_TRUE(call.request.inputs.empty());
  EXPECT_TRUE(call.request.key.empty());
  EXPECT_TRUE(call.request.wanted_outputs.empty());
  EXPECT_EQ(call.request.rows, 1u);
  EXPECT_EQ(call.request.dispatches, 0);
  EXPECT_EQ(call.request.answers, 0u);
  EXPECT_FALSE(call.request.cancelled);
  EXPECT_FALSE(call.request.is_answered);
  EXPECT_EQ(call.request.patience_ns, 0);
  EXPECT_EQ(call.request.sums.infer_ns, 0);
  EXPECT_EQ(call.request.queued_bytes, 0u);
  EXPECT_TRUE(call.request.given_up.ok());
  EXPECT_FALSE(call.request.suspect);
  EXPECT_EQ(call.request.state, RequestState::kNew);
  EXPECT_EQ(call.request.deadline_ns, 0);
}

}  // namespace
}  // namespace mpsd
