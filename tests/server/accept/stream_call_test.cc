#include "server/accept/stream_call.h"

#include <gmock/gmock.h>

#include "absl/strings/str_cat.h"
#include "proto/base/limits.h"
#include "tests/server/accept/call_fixture.h"
#include "tests/server/access/rules.h"

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class StreamCallTest : public CallFixture {
 protected:
  StreamCallTest() { ArmStream(); }

  std::unique_ptr<ClientCall> OpenStreamCall(bool compressed = false) {
    return Open(InferService::kStreamMethod, compressed);
  }

  // Writes a request and waits for its admission.
  Request* Admit(ClientCall* call, const std::string& model, const std::string& id,
                 bool final_flag = false) {
    const size_t admitted = handler_.count();
    Write(call, InferBytes(model, id, final_flag));
    PumpUntilAdmitted(admitted + 1);
    return handler_.last();
  }

  // The id of the next answer.
  std::string NextId(ClientCall* call) {
    const inference::ModelStreamInferResponse response = ReadResponse(call);
    EXPECT_EQ(response.error_message(), "");
    return response.infer_response().id();
  }

  // From now on streams come from a client that reads nothing ahead.
  void ReadNothingAhead() {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 5);
    arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    stub_ = std::make_unique<grpc::GenericStub>(grpc::CreateCustomChannel(
        absl::StrCat("127.0.0.1:", port_), grpc::InsecureChannelCredentials(), arguments));
  }

  // The same look as the queue threads' one, at that time.
  void LookAt(int64_t now_ns) {
    clock_.Advance(now_ns - clock_.NowNs());
    streams_.CutUntaken(now_ns);
  }

  void CloseAndEnd(ClientCall* call) {
    Close(call);
    EXPECT_FALSE(Read(call));
    EXPECT_TRUE(End(call).ok()) << call->status.error_message();
  }
};

TEST_F(StreamCallTest, EachRequestGetsItsAnswer) {
  const auto call = OpenStreamCall();
  for (const char* id : {"1", "2", "3"}) {
    Admit(call.get(), "m", id)->reply.Send(FakeAnswer({1}));
    EXPECT_EQ(NextId(call.get()), id);
  }
  CloseAndEnd(call.get());
  EXPECT_EQ(live_calls_, 1) << "one more is armed";
}

TEST_F(StreamCallTest, AnswersOfOneModelKeepTheOrderOfTheirRequests) {
  const auto call = OpenStreamCall();
  Request* const first = Admit(call.get(), "m", "1");
  Request* const second = Admit(call.get(), "m", "2");
  Request* const other = Admit(call.get(), "n", "3");
  second->reply.Send(FakeAnswer({1}));
  other->reply.Send(FakeAnswer({1}));
  EXPECT_EQ(NextId(call.get()), "3") << "another model's answer waits for nobody";
  first->reply.Send(FakeAnswer({1}));
  EXPECT_EQ(NextId(call.get()), "1");
  EXPECT_EQ(NextId(call.get()), "2");
  CloseAndEnd(call.get());
}

TEST_F(StreamCallTest, AnErrorIsAMessageOfTheStream) {
  const auto call = OpenStreamCall();
  Admit(call.get(), "m", "1")->reply.Fail(absl::InternalError("it broke"));
  const inference::ModelStreamInferResponse response = ReadResponse(call.get());
  EXPECT_EQ(response.error_message(), "it broke");
  EXPECT_EQ(response.infer_response().id(), "1");
  Admit(call.get(), "m", "2")->reply.Send(FakeAnswer({1}));
  EXPECT_EQ(NextId(call.get()), "2");
  CloseAndEnd(call.get());
}

TEST_F(StreamCallTest, BytesThatAreNoRequestAreAnError) {
  const auto call = OpenStreamCall();
  Write(call.get(), InOneSlice("\xff\xff"));
  EXPECT_NE(ReadResponse(call.get()).error_message(), "");
  EXPECT_EQ(handler_.count(), 0u);
  CloseAndEnd(call.get());
}

TEST_F(StreamCallTest, SeveralAnswersAreAskedForOneAfterTheOther) {
  const auto call = OpenStreamCall();
  Request* const request = Admit(call.get(), "many", "1", /*final_flag=*/true);
  for (int i = 0; i < 3; ++i) {
    handler_.SendPart(request, {1});
    EXPECT_EQ(handler_.queue.continued, i) << "it is not written yet";
    const inference::ModelStreamInferResponse part = ReadResponse(call.get());
    EXPECT_FALSE(part.infer_response().parameters().at("triton_final_response").bool_param());
    Pump([&] { return handler_.queue.continued == i + 1; });
  }
  request->reply.End();
  const inference::ModelStreamInferResponse last = ReadResponse(call.get());
  EXPECT_TRUE(last.infer_response().parameters().at("triton_final_response").bool_param());
  EXPECT_EQ(last.infer_response().outputs_size(), 0);
  CloseAndEnd(call.get());
}

TEST_F(StreamCallTest, AnEndThatTheClientDoesNotAskForIsNotWritten) {
  const auto call = OpenStreamCall();
  Admit(call.get(), "many", "1")->reply.End();
  Admit(call.get(), "many", "2")->reply.Fail(absl::InternalError("it broke"));
  EXPECT_EQ(ReadResponse(call.get()).error_message(), "it broke");
  CloseAndEnd(call.get());
}

TEST_F(StreamCallTest, AnErrorOfADecoupledModelIsFollowedByItsEnd) {
  const auto call = OpenStreamCall();
  Request* const request = Admit(call.get(), "many", "1", /*final_flag=*/true);
  request->reply.Fail(absl::InternalError("it broke"));
  EXPECT_EQ(ReadResponse(call.get()).error_message(), "it broke");
  EXPECT_EQ(NextId(call.get()), "1");
  CloseAndEnd(call.get());
}

TEST_F(StreamCallTest, ARequestWithSeveralAnswersKeepsNobodyWaiting) {
  const auto call = OpenStreamCall();
  Request* const several = Admit(call.get(), "many", "1");
  Request* const behind = Admit(call.get(), "many", "2");
  behind->reply.Send(FakeAnswer({1}));
  handler_.SendPart(several, {1});
  EXPECT_THAT((std::vector<std::string>{NextId(call.get()), NextId(call.get())}),
              testing::UnorderedElementsAre("1", "2"));
  Pump([this] { return handler_.queue.continued == 1; });
  several->reply.End();
  CloseAndEnd(call.get());
}

TEST_F(StreamCallTest, WhoComesAfterARequestWithSeveralAnswersIsInLineAgain) {
  const auto call = OpenStreamCall();
  Request* const several = Admit(call.get(), "many", "1");
  handler_.SendPart(several, {1});
  EXPECT_EQ(NextId(call.get()), "1");
  Pump([this] { return handler_.queue.continued == 1; });
  several->reply.End();
  Request* const second = Admit(call.get(), "m", "2");
  Request* const third = Admit(call.get(), "m", "3");
  second->reply.Send(FakeAnswer({1}));
  EXPECT_EQ(NextId(call.get()), "2");
  third->reply.Send(FakeAnswer({1}));
  EXPECT_EQ(NextId(call.get()), "3");
  CloseAndEnd(call.get());
}

TEST_F(StreamCallTest, NoMoreIsReadWhileTooManyAreInside) {
  ArmInfer();
  const auto call = OpenStreamCall();
  for (size_t i = 0; i < kMaxStreamRequests; ++i) Admit(call.get(), "m", "");
  Write(call.get(), InferBytes("m", "one too many"));
  const auto other = Infer(InferBytes("m"));
  PumpUntilAdmitted(kMaxStreamRequests + 1);
  handler_.last()->reply.Send(FakeAnswer({1}));
  PumpUntil(other->finished);
  EXPECT_EQ(handler_.count(), kMaxStreamRequests + 1) << "the other call's is the last one";
  std::vector<Request*> requests = handler_.requests();
  requests[0]->reply.Send(FakeAnswer({1}));
  NextId(call.get());
  PumpUntilAdmitted(kMaxStreamRequests + 2);
  EXPECT_EQ(handler_.ids().back(), "one too many");
  requests = handler_.requests();
  requests.erase(requests.begin() + kMaxStreamRequests);
  for (size_t i = 1; i < requests.size(); ++i) {
    requests[i]->reply.Send(FakeAnswer({1}));
    NextId(call.get());
  }
  CloseAndEnd(call.get());
}

TEST_F(StreamCallTest, NoMoreIsReadWhileTooManyAnswersAreNotWritten) {
  ReadNothingAhead();
  ArmInfer();
  const auto call = OpenStreamCall();
  constexpr size_t kMost = kMaxStreamRequests + 1;  // one of them is being written
  for (size_t i = 0; i < kMost; ++i) {
    Admit(call.get(), "m", "")->reply.Send(FakeAnswer(std::vector<float>(1000, 1)));
  }
  Write(call.get(), InferBytes("m", "one too many"));
  const auto other = Infer(InferBytes("m", "another call's"));
  PumpUntilAdmitted(kMost + 1);
  ASSERT_EQ(handler_.ids().back(), "another call's");
  handler_.last()->reply.Send(FakeAnswer({1}));
  PumpUntil(other->finished);
  NextId(call.get());
  PumpUntilAdmitted(kMost + 2);
  EXPECT_EQ(handler_.ids().back(), "one too many");
  call->context.TryCancel();
  Pump([this] { return metrics_.open_calls == 0; });
  End(call.get());
}

TEST_F(StreamCallTest, RequestsBeyondTheModelsShareAreErrorsOfTheStream) {
  constexpr uint32_t kFew = 12;
  OpenCalls few(kFew, &metrics_.refused_calls);
  infer_.open_infer_calls = &few;
  const auto call = OpenStreamCall();
  for (uint32_t i = 0; i < kFew / 3; ++i) Admit(call.get(), "slow", "inside");
  Write(call.get(), InferBytes("slow", "beyond"));
  Request* const other = Admit(call.get(), "other", "1");
  EXPECT_EQ(few.count(), kFew / 3 + 1) << "a refused one has no place";
  other->reply.Send(FakeAnswer({1}));
  EXPECT_EQ(NextId(call.get()), "1");
  for (uint32_t i = 0; i < kFew / 3; ++i) {
    handler_.requests()[i]->reply.Send(FakeAnswer({1}));
    EXPECT_EQ(NextId(call.get()), "inside");
  }
  EXPECT_EQ(ReadResponse(call.get()).error_message(), "too many calls to this model are open");
  Admit(call.get(), "slow", "again")->reply.Send(FakeAnswer({1}));
  EXPECT_EQ(NextId(call.get()), "again");
  CloseAndEnd(call.get());
  EXPECT_EQ(few.count(), 0u);
  ShutDown();
}

TEST_F(StreamCallTest, AnAnswerThatIsNotWrittenKeepsItsPlace) {
  ReadNothingAhead();
  const auto call = OpenStreamCall();
  for (const char* id : {"1", "2", "3"}) {
    Admit(call.get(), "m", id)->reply.Send(FakeAnswer(std::vector<float>(1000, 1)));
  }
  EXPECT_EQ(open_infer_calls_.count(), 3u);
  for (const char* id : {"1", "2", "3"}) EXPECT_EQ(NextId(call.get()), id);
  CloseAndEnd(call.get());
  EXPECT_EQ(open_infer_calls_.count(), 0u);
}

TEST_F(StreamCallTest, AStreamWhoseClientTakesNoAnswerIsCutOff) {
  ReadNothingAhead();
  const auto call = OpenStreamCall();
  Request* const request = Admit(call.get(), "m", "1");
  const int64_t cut_at_ns = request->deadline_ns + kUntakenAnswerNs;
  request->reply.Send(FakeAnswer(std::vector<float>(1000, 1)));
  Admit(call.get(), "n", "still inside");
  LookAt(cut_at_ns - 1);
  EXPECT_EQ(metrics_.untaken_answers, 0u);
  LookAt(cut_at_ns - 1 + OpenStreams::kLookEveryNs);
  LookAt(cut_at_ns - 1 + 2 * OpenStreams::kLookEveryNs);
  EXPECT_EQ(metrics_.untaken_answers, 1u) << "once";
  Pump([this] { return live_calls_ == 1; });
  EXPECT_EQ(handler_.queue.cancelled, 1);
  EXPECT_EQ(open_infer_calls_.count(), 0u);
  EXPECT_FALSE(Read(call.get()));
  EXPECT_EQ(End(call.get()).error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_EQ(call->status.error_message(), "the stream's answers were not read in time");
}

TEST_F(StreamCallTest, AnAnswerThatWaitsForOthersHasItsTimeFromItsTurnOn) {
  ReadNothingAhead();
  const auto call = OpenStreamCall();
  for (const char* id : {"1", "2"}) {
    Admit(call.get(), "m", id)->reply.Send(FakeAnswer(std::vector<float>(1000, 1)));
  }
  const int64_t late_ns = clock_.NowNs() + kDefaultTimeoutNs + kUntakenAnswerNs - 1;
  LookAt(late_ns);
  EXPECT_EQ(NextId(call.get()), "1");
  Pump([this] { return open_infer_calls_.count() == 1; });
  LookAt(late_ns + kUntakenAnswerNs - 1);
  EXPECT_EQ(metrics_.untaken_answers, 0u);
  LookAt(late_ns + kUntakenAnswerNs - 1 + OpenStreams::kLookEveryNs);
  EXPECT_EQ(metrics_.untaken_answers, 1u);
  Pump([this] { return live_calls_ == 1; });
  EXPECT_FALSE(Read(call.get()));
  End(call.get());
}

TEST_F(StreamCallTest, AStreamWithoutAnAnswerToTakeIsNotCutOff) {
  const auto call = OpenStreamCall();
  Admit(call.get(), "m", "1")->reply.Send(FakeAnswer({1}));
  EXPECT_EQ(NextId(call.get()), "1");
  Pump([this] { return open_infer_calls_.count() == 0; });
  LookAt(clock_.NowNs() + kMaxTimeoutNs + kUntakenAnswerNs);
  EXPECT_EQ(metrics_.untaken_answers, 0u);
  CloseAndEnd(call.get());
}

TEST_F(StreamCallTest, AClientThatClosesItsSideGetsAllAnswers) {
  const auto call = OpenStreamCall();
  Request* const first = Admit(call.get(), "m", "1");
  Request* const second = Admit(call.get(), "m", "2");
  Close(call.get());
  first->reply.Send(FakeAnswer({1}));
  EXPECT_EQ(NextId(call.get()), "1");
  second->reply.Send(FakeAnswer({1}));
  EXPECT_EQ(NextId(call.get()), "2");
  EXPECT_FALSE(Read(call.get()));
  EXPECT_TRUE(End(call.get()).ok());
}

TEST_F(StreamCallTest, AClientThatCancelsEndsItsRequests) {
  const auto call = OpenStreamCall();
  Admit(call.get(), "m", "1");
  Admit(call.get(), "n", "2");
  call->context.TryCancel();
  Pump([this] { return live_calls_ == 1; });
  EXPECT_EQ(handler_.queue.cancelled, 2);
  EXPECT_EQ(metrics_.open_calls, 0);
  EXPECT_EQ(End(call.get()).error_code(), grpc::StatusCode::CANCELLED);
}

TEST_F(StreamCallTest, ACancelledStreamStopsSeveralAnswers) {
  const auto call = OpenStreamCall();
  Request* const request = Admit(call.get(), "many", "1");
  // The ending stays owed while an answer is on its way; the client does not read it.
  request->state = RequestState::kAnswering;
  call->context.TryCancel();
  Pump([this] { return handler_.queue.cancelled > 0; });
  EXPECT_EQ(live_calls_, 2) << "the request is inside";
  request->reply.SendPart(FakeAnswer({1}));
  Pump([this] { return live_calls_ == 1; });
  EXPECT_EQ(handler_.queue.continued, 1);
  End(call.get());
}

TEST_F(StreamCallTest, ACancelledStreamStopsThoseWhoseAnswerWaitsToBeWrittenToo) {
  ReadNothingAhead();
  const auto call = OpenStreamCall();
  for (const char* id : {"1", "2"}) {
    handler_.SendPart(Admit(call.get(), "many", id), std::vector<float>(1000, 1));
  }
  call->context.TryCancel();
  Pump([this] { return live_calls_ == 1; });
  EXPECT_EQ(handler_.queue.continued, 2);
  End(call.get());
}

TEST_F(StreamCallTest, ACallerThatTheGateRefusesIsNotRead) {
  gate_.SetRules(TestRules({}));
  const auto call = OpenStreamCall();
  EXPECT_EQ(End(call.get()).error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(handler_.count(), 0u);
}

TEST_F(StreamCallTest, EachRequestIsHeldToTheRulesOfItsModel) {
  gate_.SetRules(TestRules({TokenRule("ops", Role::kInfer, {"m"})}));
  const auto call = NewCall();
  call->context.AddMetadata("authorization", "Bearer ops-secret");
  call->stream = stub_->PrepareCall(&call->context, InferService::kStreamMethod, queue_.get());
  call->stream->StartCall(&call->started);
  PumpUntil(call->started);
  Admit(call.get(), "m", "1")->reply.Send(FakeAnswer({1}));
  EXPECT_EQ(NextId(call.get()), "1");
  Write(call.get(), InferBytes("other", "2"));
  EXPECT_NE(ReadResponse(call.get()).error_message(), "");
  EXPECT_EQ(access_metrics_.denied_calls, 1u);
  // Other rules come, and the next request is held to these.
  gate_.SetRules(TestRules({TokenRule("ops", Role::kInfer, {"other"})}));
  Admit(call.get(), "other", "3")->reply.Send(FakeAnswer({1}));
  EXPECT_EQ(NextId(call.get()), "3");
  gate_.SetRules(TestRules({}));
  Write(call.get(), InferBytes("other", "4"));
  EXPECT_NE(ReadResponse(call.get()).error_message(), "");
  CloseAndEnd(call.get());
  EXPECT_EQ(handler_.count(), 2u);
}

TEST_F(StreamCallTest, CompressedRequestsAreInflatedOneAfterTheOther) {
  const auto call = OpenStreamCall(/*compressed=*/true);
  const std::string id(2000, 'x');
  Write(call.get(), InferBytes("m", id));
  inflaters_.Start(1);
  PumpUntilAdmitted(1);
  handler_.last()->reply.Send(FakeAnswer({1}));
  EXPECT_EQ(NextId(call.get()), id);
  Write(call.get(), InferBytes("m", std::string(kMessageBytes + 1, 'x')));
  EXPECT_NE(ReadResponse(call.get()).error_message(), "");
  EXPECT_EQ(handler_.count(), 1u);
  CloseAndEnd(call.get());
}

TEST_F(StreamCallTest, AStreamThatIsCancelledWhileARequestIsInflatedReadsNoMore) {
  const auto call = OpenStreamCall(/*compressed=*/true);
  Write(call.get(), InferBytes("m", std::string(2000, 'x')));
  call->context.TryCancel();
  EXPECT_EQ(End(call.get()).error_code(), grpc::StatusCode::CANCELLED);
  inflaters_.Start(1);
  Pump([this] { return live_calls_ == 1; });
  EXPECT_EQ(handler_.count(), 0u);
}

TEST_F(StreamCallTest, InputsOnADeviceComeBackToTheQueue) {
  RegisterDevice();
  const auto call = OpenStreamCall();
  Write(call.get(), RegionBytes("gpu"));
  Pump([this] { return !copier_.tasks.empty(); });
  std::thread([this] { copier_.RunTasks(); }).join();
  EXPECT_EQ(handler_.count(), 0u);
  PumpUntilAdmitted(1);
  handler_.last()->reply.Send(FakeAnswer({1}));
  NextId(call.get());
  CloseAndEnd(call.get());
}

TEST_F(StreamCallTest, AStreamThatIsCancelledDuringACopyAdmitsNothing) {
  RegisterDevice();
  const auto call = OpenStreamCall();
  Write(call.get(), RegionBytes("gpu"));
  Pump([this] { return !copier_.tasks.empty(); });
  const int live = live_calls_;
  const int tags = tags_taken_;
  call->context.TryCancel();
  End(call.get());
  // The client's end, Done, and the Read that found nothing, in any order.
  Pump([this, tags] { return tags_taken_ >= tags + 3; });
  EXPECT_EQ(live_calls_, live) << "the request is inside";
  copier_.RunTasks();
  Pump([this, live] { return live_calls_ == live - 1; });
  EXPECT_EQ(handler_.count(), 0u);
}

TEST_F(StreamCallTest, AStopAnswersWhatIsInsideAndEndsTheStream) {
  const auto call = OpenStreamCall();
  Request* const request = Admit(call.get(), "m", "1");
  std::thread([this] { streams_.EndAll(); }).join();
  Write(call.get(), InferBytes("m", "2"));
  request->reply.Send(FakeAnswer({1}));
  EXPECT_EQ(NextId(call.get()), "1");
  const bool more = Read(call.get());
  EXPECT_EQ(End(call.get()).error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_FALSE(more) << "what came after the stop is not served";
  EXPECT_EQ(call->status.error_message(), "Server exiting");
}

TEST_F(StreamCallTest, AnIdleStreamEndsAtOnceWhenTheServerStops) {
  const auto call = OpenStreamCall();
  Pump([this] { return metrics_.open_calls == 1; });
  streams_.EndAll();
  EXPECT_EQ(End(call.get()).error_message(), "Server exiting");
}

TEST_F(StreamCallTest, OneThatArrivesDuringTheStopEndsAtOnce) {
  stopping_ = true;
  const auto call = OpenStreamCall();
  EXPECT_EQ(End(call.get()).error_message(), "Server exiting");
  EXPECT_EQ(handler_.count(), 0u);
}

TEST_F(StreamCallTest, AnOpenStreamIsCancelledWhenTheServerShutsDown) {
  const auto call = OpenStreamCall();
  Admit(call.get(), "m", "1");
  call->stream->Finish(&call->status, &call->finished);
  ShutDown();
  EXPECT_TRUE(call->finished.came);
  EXPECT_EQ(handler_.queue.cancelled, 1);
}

}  // namespace
}  // namespace mpsd
