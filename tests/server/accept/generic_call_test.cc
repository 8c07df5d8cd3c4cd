#include "server/accept/generic_call.h"

#include <gmock/gmock.h>

#include "absl/strings/str_cat.h"
#include "tests/server/accept/call_fixture.h"
#include "tests/server/access/rules.h"

namespace mpsd {
namespace {

using testing::ElementsAre;

constexpr char kEcho[] = "/a.B/Echo";
constexpr char kLater[] = "/a.B/Later";
constexpr char kWatch[] = "/a.B/Watch";
constexpr char kTalk[] = "/a.B/Talk";
constexpr char kModelReady[] = "/inference.GRPCInferenceService/ModelReady";

class GenericCallTest : public CallFixture {
 protected:
  GenericCallTest() {
    const auto echo = [this](const CallerInfo& caller, absl::string_view request,
                             std::string* response) {
      peers_.push_back(caller.peer);
      if (request == "bad") return absl::NotFoundError("no such thing");
      *response = absl::StrCat(request, "!");
      return absl::OkStatus();
    };
    methods_.Add(kEcho, MethodTable::Kind::kUnary, echo);
    methods_.Add(kModelReady, MethodTable::Kind::kUnary, echo);
    methods_.Add(kTalk, MethodTable::Kind::kConversation, echo);
    methods_.AddWatched(
        kWatch,
        [this] {
          ++looks_;
          return state_;
        },
        [this](const CallerInfo&, absl::string_view, std::string* response) {
          ++responses_;
          *response = watched_;
          return watch_status_;
        });
    methods_.AddDeferred(kLater,
                         [this](const CallerInfo&, absl::string_view, MethodTable::Answer answer) {
                           answer_ = std::move(answer);
                         });
    ArmGeneric();
  }

  std::string ReadText(ClientCall* call) {
    EXPECT_TRUE(Read(call));
    return AllBytes(call->message);
  }

  static std::string ReadyBytes(const std::string& model) {
    inference::ModelReadyRequest request;
    request.set_name(model);
    return request.SerializeAsString();
  }

  std::vector<std::string> peers_;
  std::string watched_ = "first";
  absl::Status watch_status_;
  uint64_t state_ = 1;
  int looks_ = 0;      // at the state
  int responses_ = 0;  // that a watched method was asked for
  MethodTable::Answer answer_;
};

TEST_F(GenericCallTest, AMethodIsAskedAndItsAnswerSent) {
  const auto call = Call(kEcho, "hello");
  PumpUntil(call->finished);
  ASSERT_TRUE(call->status.ok()) << call->status.error_message();
  EXPECT_EQ(AllBytes(call->response), "hello!");
  ASSERT_EQ(peers_.size(), 1u);
  EXPECT_TRUE(CallerInfo{peers_[0]}.IsLocal()) << peers_[0];
  Pump([this] { return live_calls_ == 1; });
}

TEST_F(GenericCallTest, AMethodsErrorIsTheStatus) {
  const auto call = Call(kEcho, "bad");
  PumpUntil(call->finished);
  EXPECT_EQ(call->status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(call->status.error_message(), "no such thing");
}

TEST_F(GenericCallTest, ARequestBeyondTheBoundIsRefusedUnread) {
  const auto largest = Call(kEcho, std::string(GenericCall::kMaxRequestBytes, 'x'));
  PumpUntil(largest->finished);
  EXPECT_TRUE(largest->status.ok()) << largest->status.error_message();
  const auto larger = Call(kEcho, std::string(GenericCall::kMaxRequestBytes + 1, 'x'));
  PumpUntil(larger->finished);
  EXPECT_EQ(larger->status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(peers_.size(), 1u) << "the method is not asked";
}

TEST_F(GenericCallTest, AMethodThatNobodyKnowsIsUnimplemented) {
  const auto call = Call("/a.B/Unknown", "");
  PumpUntil(call->finished);
  EXPECT_EQ(call->status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(call->status.error_message(), "unknown method /a.B/Unknown");
}

TEST_F(GenericCallTest, ACallerThatTheGateRefusesLearnsNotWhetherThereIsTheMethod) {
  gate_.SetRules(TestRules({}));
  for (const char* method : {kEcho, "/a.B/Unknown"}) {
    const auto call = Call(method, "hello");
    PumpUntil(call->finished);
    EXPECT_EQ(call->status.error_code(), grpc::StatusCode::UNAUTHENTICATED);
  }
  EXPECT_TRUE(peers_.empty());
}

TEST_F(GenericCallTest, TheModelThatARequestNamesIsHeldToTheRules) {
  gate_.SetRules(TestRules({TokenRule("ops", RoleSet(Role::kInfer) | Role::kHealth, {"m"})}));
  std::vector<grpc::StatusCode> codes;
  for (const std::string& request : {ReadyBytes("m"), ReadyBytes("other"), std::string("\xff")}) {
    const auto call = NewCall();
    call->context.AddMetadata("authorization", "Bearer ops-secret");
    Start(call.get(), kModelReady, InOneSlice(request));
    PumpUntil(call->finished);
    codes.push_back(call->status.error_code());
  }
  EXPECT_THAT(codes, ElementsAre(grpc::StatusCode::OK, grpc::StatusCode::PERMISSION_DENIED,
                                 grpc::StatusCode::INVALID_ARGUMENT));
}

TEST_F(GenericCallTest, ACallWithoutARequestIsRefused) {
  const auto call = Open(kEcho);
  Close(call.get());
  EXPECT_EQ(End(call.get()).error_message(), "the call carries no request");
}

TEST_F(GenericCallTest, ACompressedRequestIsInflatedFirst) {
  const std::string text(2000, 'x');
  const auto call = Call(kEcho, text, /*compressed=*/true);
  inflaters_.Start(1);
  PumpUntil(call->finished);
  EXPECT_EQ(AllBytes(call->response), text + "!");
  const auto large = Call(kEcho, std::string(kMessageBytes + 1, 'x'), /*compressed=*/true);
  PumpUntil(large->finished);
  EXPECT_EQ(large->status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(peers_.size(), 1u);
}

TEST_F(GenericCallTest, ADeferredAnswerMayComeFromAnyThread) {
  const auto call = Call(kLater, "");
  Pump([this] { return answer_ != nullptr; });
  std::thread([this] { answer_(absl::OkStatus(), "now"); }).join();
  PumpUntil(call->finished);
  EXPECT_TRUE(call->status.ok());
  EXPECT_EQ(AllBytes(call->response), "now");
}

TEST_F(GenericCallTest, ADeferredErrorIsTheStatus) {
  const auto call = Call(kLater, "");
  Pump([this] { return answer_ != nullptr; });
  answer_(absl::NotFoundError("no such thing"), "");
  PumpUntil(call->finished);
  EXPECT_EQ(call->status.error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(GenericCallTest, ACancelledCallWaitsForItsDeferredAnswer) {
  const auto call = Call(kLater, "");
  Pump([this] { return answer_ != nullptr; });
  call->context.TryCancel();
  PumpTags(2);  // the client's, and Done
  EXPECT_EQ(metrics_.open_calls, 1);
  answer_(absl::OkStatus(), "too late");
  Pump([this] { return live_calls_ == 1; });
  EXPECT_EQ(metrics_.open_calls, 0);
}

TEST_F(GenericCallTest, AConversationGetsAResponseForEachRequest) {
  const auto call = Open(kTalk);
  for (const std::string text : {"one", "two"}) {
    Write(call.get(), InOneSlice(text));
    EXPECT_EQ(ReadText(call.get()), text + "!");
  }
  Close(call.get());
  EXPECT_FALSE(Read(call.get()));
  EXPECT_TRUE(End(call.get()).ok());
}

TEST_F(GenericCallTest, AnErrorEndsAConversation) {
  const auto call = Open(kTalk);
  Write(call.get(), InOneSlice("bad"));
  EXPECT_FALSE(Read(call.get()));
  EXPECT_EQ(End(call.get()).error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(GenericCallTest, AStopEndsAConversation) {
  const auto call = Open(kTalk);
  Write(call.get(), InOneSlice("one"));
  ReadText(call.get());
  stopping_ = true;
  std::thread([this] { streams_.EndAll(); }).join();
  EXPECT_FALSE(Read(call.get()));
  EXPECT_FALSE(End(call.get()).ok());
  Pump([this] { return live_calls_ == 1; });
}

TEST_F(GenericCallTest, AWatchedMethodAnswersAtOnceAndWhenItWouldAnswerDifferently) {
  const auto call = Open(kWatch);
  Write(call.get(), InOneSlice(""));
  EXPECT_EQ(ReadText(call.get()), "first");
  Pump([this] { return looks_ >= 5; });
  EXPECT_EQ(responses_, 2) << "the first one, and the look after it";
  watched_ = "second";
  ++state_;
  EXPECT_EQ(ReadText(call.get()), "second");
  watch_status_ = absl::NotFoundError("it is gone");
  ++state_;
  EXPECT_FALSE(Read(call.get()));
  EXPECT_EQ(End(call.get()).error_message(), "it is gone");
}

TEST_F(GenericCallTest, AFirstResponseWithoutBytesIsSentOnce) {
  watched_.clear();
  const auto call = Open(kWatch);
  Write(call.get(), InOneSlice(""));
  EXPECT_EQ(ReadText(call.get()), "");
  Pump([this] { return looks_ >= 5; });
  watched_ = "second";
  ++state_;
  EXPECT_EQ(ReadText(call.get()), "second") << "the empty one is sent once";
  call->context.TryCancel();
  End(call.get());
  Pump([this] { return live_calls_ == 1; });
}

TEST_F(GenericCallTest, WatchedCallsThatWaitCostOneLookTogether) {
  std::vector<std::unique_ptr<ClientCall>> calls;
  for (int i = 0; i < 3; ++i) {
    calls.push_back(Open(kWatch));
    Write(calls.back().get(), InOneSlice(""));
    EXPECT_EQ(ReadText(calls.back().get()), "first");
  }
  Pump([this] { return responses_ == 6; });
  const int tags = tags_taken_;
  const int looks = looks_;
  Pump([this, looks] { return looks_ >= looks + 3; });
  EXPECT_EQ(tags_taken_, tags + 3);
  EXPECT_EQ(looks_, looks + 3);
  EXPECT_EQ(responses_, 6);
  watched_ = "second";
  ++state_;
  for (const auto& call : calls) EXPECT_EQ(ReadText(call.get()), "second");
  for (const auto& call : calls) {
    call->context.TryCancel();
    End(call.get());
  }
  Pump([this] { return live_calls_ == 1; });
}

TEST_F(GenericCallTest, AStopEndsAWatchedCall) {
  const auto call = Open(kWatch);
  Write(call.get(), InOneSlice(""));
  ReadText(call.get());
  stopping_ = true;
  streams_.EndAll();
  EXPECT_FALSE(Read(call.get()));
  EXPECT_FALSE(End(call.get()).ok());
  Pump([this] { return live_calls_ == 1; });
}

TEST_F(GenericCallTest, ArmedCallsGoWhenTheServerShutsDown) {
  ArmGeneric();
  EXPECT_EQ(live_calls_, 2);
  ShutDown();
  EXPECT_EQ(live_calls_, 0);
}

}  // namespace
}  // namespace mpsd
