#include "server/door/grpc_lasting_task.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/server/access/rules.h"
#include "tests/server/bodies/inflate/compressed.h"
#include "tests/server/door/grpc_calls.h"

namespace mpsd {
namespace {

constexpr char kWatch[] = "/a.B/Watch";
constexpr char kTalk[] = "/a.B/Talk";

class GrpcLastingTaskTest : public GrpcCallsTest {
 protected:
  GrpcLastingTaskTest() {
    methods_.Add(kTalk, MethodTable::Kind::kConversation,
                 [](const CallerInfo&, absl::string_view request, std::string* response) {
                   if (request == "bad") return absl::NotFoundError("no such thing");
                   *response = absl::StrCat(request, "!");
                   return absl::OkStatus();
                 });
    methods_.AddWatched(
        kWatch,
        [this] {
          ++looks_;
          return state_;
        },
        [this](const CallerInfo&, absl::string_view request, std::string* response) {
          ++responses_;
          *response = absl::StrCat(request, watched_);
          return watch_status_;
        });
  }

  // A watched call that has its first response, and awaits the next one.
  void OpenWatch(const std::string& headers = "") {
    ASSERT_NE(Open(kWatch, headers), nullptr);
    Send("");
    EXPECT_EQ(Next(), watched_);
    EXPECT_FALSE(HasNext());
  }

  std::string watched_ = "first";
  absl::Status watch_status_;
  uint64_t state_ = 1;
  int looks_ = 0;      // at the state
  int responses_ = 0;  // that the watched method was asked for
};

TEST_F(GrpcLastingTaskTest, AConversationGetsAResponseForEachRequest) {
  Open(kTalk);
  EXPECT_EQ(metrics_.open_calls, 1);
  EXPECT_EQ(open_other_calls_.count(), 1U);
  SendBytes(InGrpcForm("one") + InGrpcForm("two"));
  EXPECT_EQ(call_->parts.size(), 1U) << "the next one is read once the response is taken";
  EXPECT_EQ(Next(), "one!");
  EXPECT_EQ(Next(), "two!");
  Send("three");
  EXPECT_EQ(Next(), "three!");
  EXPECT_EQ(call_->dropped_bytes, 3 * kGrpcPrefixBytes + 11);
  CloseAndEnd();
  EXPECT_EQ(metrics_.open_calls, 0);
  EXPECT_EQ(open_other_calls_.count(), 0U);
}

TEST_F(GrpcLastingTaskTest, AClientThatClosesItsSideGetsTheResponses) {
  Open(kTalk);
  SendBytes(InGrpcForm("one") + InGrpcForm("two"));
  task_->Serve(BodyEnd::kWhole);
  EXPECT_EQ(Next(), "one!");
  EXPECT_EQ(Next(), "two!");
  Over("grpc-status: 0\r\n");
}

TEST_F(GrpcLastingTaskTest, AnErrorEndsAConversation) {
  Open(kTalk);
  Send("bad");
  Over("grpc-status: 5\r\ngrpc-message: no such thing\r\n");
}

TEST_F(GrpcLastingTaskTest, APeriodicMethodRespondsAfterEachPause) {
  methods_.AddPeriodic(
      "/a.B/Tell", [](absl::string_view request) { return request == "slow" ? 2000 : 1000; },
      [this](const CallerInfo&, absl::string_view, std::string* response) {
        *response = watched_;
        return watch_status_;
      });
  Open("/a.B/Tell");
  Send("slow");
  EXPECT_EQ(Next(), "first");
  door_->Look();
  EXPECT_FALSE(HasNext());
  clock_.Advance(1999);
  door_->Look();
  EXPECT_FALSE(HasNext());
  clock_.Advance(1);
  door_->Look();
  EXPECT_EQ(call_->parts.size(), 2U);
  clock_.Advance(10'000);
  door_->Look();
  EXPECT_EQ(call_->parts.size(), 2U) << "the client has not taken the response before";
  EXPECT_EQ(Next(), "first") << "an equal response is sent too";
  EXPECT_EQ(Next(), "first");
  EXPECT_FALSE(HasNext()) << "those that it has missed do not follow";
  watch_status_ = absl::UnavailableError("over");
  clock_.Advance(2000);
  door_->Look();
  Over("grpc-status: 14");
}

TEST_F(GrpcLastingTaskTest, TheLoadIsATrailer) {
  Open(kTalk, "endpoint-load-metrics-format: BIN\r\n");
  EXPECT_TRUE(absl::StartsWith(call_->added_trailers, "endpoint-load-metrics-bin: "));
  EXPECT_EQ(call_->added, "");
  CloseAndEnd();
}

TEST_F(GrpcLastingTaskTest, AStopEndsAConversation) {
  Open(kTalk);
  Send("one");
  task_->EndSoon();
  EXPECT_FALSE(is_over()) << "the response is on its way";
  EXPECT_EQ(Next(), "one!");
  Over("grpc-status: 14\r\ngrpc-message: Server exiting\r\n");
}

TEST_F(GrpcLastingTaskTest, ACompressedRequestIsInflatedFirst) {
  inflaters_.Start("inflate", 1);
  Open(kTalk, "grpc-encoding: gzip\r\n");
  const std::string text(2000, 'x');
  std::string bytes = InGrpcForm(Compressed(text, CompressedForm::kGzip));
  bytes[0] = 1;
  SendBytes(bytes + InGrpcForm("plain"));
  EXPECT_FALSE(HasNext());
  AwaitResumed();
  EXPECT_EQ(Next(), text + "!");
  EXPECT_EQ(inflated_.taken_bytes(), 0U);
  EXPECT_EQ(Next(), "plain!");
  bytes[kGrpcPrefixBytes] = 'x';
  SendBytes(bytes);
  AwaitResumed();
  Over("grpc-status: 3\r\n");
}

TEST_F(GrpcLastingTaskTest, ACallThatEndsWhileARequestIsInflatedAwaitsThat) {
  Open(kTalk, "grpc-encoding: gzip\r\n");
  std::string bytes = InGrpcForm(Compressed("one", CompressedForm::kGzip));
  bytes[0] = 1;
  SendBytes(bytes);
  task_->EndSoon();
  EXPECT_FALSE(is_over());
  inflaters_.Start("inflate", 1);
  AwaitResumed();
  EXPECT_FALSE(HasNext());
  Over("grpc-status: 14\r\n");
}

TEST_F(GrpcLastingTaskTest, AWatchedMethodAnswersAtOnceAndWhenItWouldAnswerDifferently) {
  OpenWatch();
  for (int i = 0; i < 3; ++i) door_->Look();
  EXPECT_EQ(responses_, 2) << "the first one, and the look after it";
  ++state_;
  door_->Look();
  EXPECT_EQ(responses_, 3);
  EXPECT_FALSE(HasNext()) << "it is the same response";
  watched_ = "second";
  ++state_;
  door_->Look();
  EXPECT_EQ(Next(), "second");
  watch_status_ = absl::NotFoundError("it is gone");
  ++state_;
  door_->Look();
  Over("grpc-status: 5\r\ngrpc-message: it is gone\r\n");
  door_->Look();
}

TEST_F(GrpcLastingTaskTest, AWatchGoesOnWhenItsClientHasSaidAll) {
  OpenWatch();
  task_->Serve(BodyEnd::kWhole);
  EXPECT_FALSE(is_over());
  watched_ = "second";
  ++state_;
  door_->Look();
  EXPECT_EQ(Next(), "second");
  task_->ClientLeft();
  Over("grpc-status: 4\r\n");
  const int responses = responses_;
  ++state_;
  door_->Look();
  EXPECT_EQ(responses_, responses) << "nobody waits any more";
}

TEST_F(GrpcLastingTaskTest, AFirstResponseWithoutBytesIsSentOnce) {
  watched_.clear();
  OpenWatch();
  ++state_;
  door_->Look();
  EXPECT_FALSE(HasNext());
  task_->EndSoon();
  Over("grpc-status: 14\r\n");
}

TEST_F(GrpcLastingTaskTest, WatchedCallsThatWaitCostOneLookTogether) {
  std::vector<std::pair<std::unique_ptr<FakeHttpCall>, HttpTask*>> calls;
  for (int i = 0; i < 3; ++i) {
    OpenWatch();
    calls.emplace_back(std::move(call_), task_);
  }
  const int looks = looks_;
  door_->Look();
  EXPECT_EQ(looks_, looks + 1);
  EXPECT_EQ(responses_, 6);
  watched_ = "second";
  ++state_;
  door_->Look();
  for (const auto& [call, task] : calls) {
    EXPECT_EQ(call->parts.size(), 2U);
    task->ClientLeft();
    task->PartTaken(false);
    EXPECT_TRUE(call->reply.has_value());
    task->Over();
  }
}

TEST_F(GrpcLastingTaskTest, AStopEndsAWatchedCall) {
  OpenWatch();
  task_->EndSoon();
  task_->EndSoon();
  Over("grpc-status: 14\r\ngrpc-message: Server exiting\r\n");
}

TEST_F(GrpcLastingTaskTest, AResponseThatIsNotTakenEndsTheCall) {
  Open(kWatch);
  Send("");
  task_->PartTaken(false);
  Over("grpc-status: 4\r\ngrpc-message: the stream's answers were not read in time\r\n");
}

TEST_F(GrpcLastingTaskTest, AWatchNeedsARequest) {
  Open(kWatch);
  task_->Serve(BodyEnd::kWhole);
  Over("grpc-status: 3\r\ngrpc-message: the call carries no request\r\n");
}

TEST_F(GrpcLastingTaskTest, ARequestBeyondTheBoundIsRefused) {
  for (const char* method : {kWatch, kTalk}) {
    Open(method);
    Send(std::string((256 << 10) + 1, 'x'));
    Over("grpc-status: 8\r\ngrpc-message: a request of this method has at most 262144 bytes\r\n");
  }
}

TEST_F(GrpcLastingTaskTest, TheCallsDeadlineIsItsEnd) {
  Open(kTalk, "grpc-timeout: 5S\r\n");
  EXPECT_EQ(*call_->streams_until_ns, clock_.NowNs() + 5 * kNsPerSecond);
  task_->ClientLeft();
  Over("grpc-status: 4\r\n");
  EXPECT_EQ(Open(kTalk, "grpc-timeout: soon\r\n"), nullptr);
}

TEST_F(GrpcLastingTaskTest, ACallerThatTheGateRefusesIsNotRead) {
  gate_.SetRules(TestRules({}));
  EXPECT_EQ(Open(kWatch), nullptr);
  EXPECT_TRUE(absl::StrContains(Status(), "grpc-status: 16\r\n")) << Status();
}

}  // namespace
}  // namespace mpsd
