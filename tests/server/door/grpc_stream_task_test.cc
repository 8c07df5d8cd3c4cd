#include "server/door/grpc_stream_task.h"

#include <gmock/gmock.h>

#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/limits.h"
#include "tests/server/access/rules.h"
#include "tests/server/bodies/inflate/compressed.h"
#include "tests/server/door/grpc_calls.h"

namespace mpsd {
namespace {

constexpr int64_t kHourNs = 3600 * kNsPerSecond;
constexpr char kUntaken[] =
    "grpc-status: 4\r\ngrpc-message: the stream's answers were not read in time\r\n";

class GrpcStreamTaskTest : public GrpcCallsTest {
 protected:
  GrpcStreamTaskTest() { CountIn(&many_); }

  // The requests of the next streams count there.
  void CountIn(OpenCalls* calls) {
    context_.open_infer_calls = calls;
    door_ = std::make_unique<HttpDoor>(context_, &thread_);
  }

  HttpTask* OpenStream(const std::string& headers = "") {
    is_open_ = true;
    return Open(std::string(kModelStreamInferAccess.name), headers);
  }

  // The first request opens the stream.
  Request* Admit(const std::string& model, const std::string& id, bool final_flag = false) {
    if (!is_open_) OpenStream();
    const size_t admitted = handler_.count();
    Send(InferBytes(model, id, final_flag));
    EXPECT_EQ(handler_.count(), admitted + 1);
    return handler_.last();
  }

  void SendCompressed(const std::string& message) {
    std::string bytes = InGrpcForm(Compressed(message, CompressedForm::kGzip));
    bytes[0] = 1;
    SendBytes(bytes);
  }

  inference::ModelStreamInferResponse NextResponse() {
    inference::ModelStreamInferResponse response;
    EXPECT_TRUE(response.ParseFromString(Next()));
    return response;
  }
  std::string NextId() {
    const inference::ModelStreamInferResponse response = NextResponse();
    EXPECT_EQ(response.error_message(), "");
    return response.infer_response().id();
  }
  std::string NextError() { return NextResponse().error_message(); }

  // Answers so large that none goes out beside another one.
  static mpsd::Answer Large() {
    static const std::vector<float> values(3000, 1);
    return FakeAnswer(values);
  }

  OpenCalls many_{3000, &metrics_.refused_calls};
  bool is_open_ = false;
};

TEST_F(GrpcStreamTaskTest, EachRequestGetsItsAnswer) {
  ASSERT_NE(OpenStream(), nullptr);
  EXPECT_EQ(metrics_.open_calls, 1);
  EXPECT_EQ(open_stream_calls_.count(), 1U);
  for (const char* id : {"1", "2", "3"}) {
    Admit("m", id)->reply.Send(FakeAnswer({1}));
    const inference::ModelStreamInferResponse response = NextResponse();
    EXPECT_EQ(response.infer_response().id(), id);
    EXPECT_EQ(response.infer_response().raw_output_contents(0).size(), sizeof(float));
  }
  CloseAndEnd();
  EXPECT_EQ(metrics_.open_calls, 0);
  EXPECT_EQ(open_stream_calls_.count() + many_.count(), 0U);
}

TEST_F(GrpcStreamTaskTest, AStreamWithoutARequestEndsWell) {
  OpenStream();
  CloseAndEnd();
}

TEST_F(GrpcStreamTaskTest, ARequestMayBeCutAnywhere) {
  OpenStream();
  const std::string first = InGrpcForm(InferBytes("m", "1"));
  const std::string both = first + InGrpcForm(InferBytes("m", std::string(20000, 'x')));
  for (size_t i = 0; i < both.size(); i += i < 100 ? 1 : 7777) {
    SendBytes(both.substr(i, i < 100 ? 1 : 7777));
  }
  EXPECT_EQ(handler_.ids(), (std::vector<std::string>{"1", std::string(20000, 'x')}));
  for (Request* request : handler_.requests()) request->reply.Send(FakeAnswer({1}));
  NextId();
  NextId();
  CloseAndEnd();
  EXPECT_EQ(call_->dropped_bytes, both.size());
}

TEST_F(GrpcStreamTaskTest, ManyRequestsMayComeInOnePiece) {
  OpenStream();
  std::string bytes;
  for (int i = 0; i < 5; ++i) bytes += InGrpcForm(InferBytes("m", absl::StrCat(i)));
  SendBytes(bytes);
  EXPECT_EQ(handler_.ids(), (std::vector<std::string>{"0", "1", "2", "3", "4"}));
  for (Request* request : handler_.requests()) request->reply.Send(FakeAnswer({1}));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(NextId(), absl::StrCat(i));
  EXPECT_EQ(call_->parts.size(), 2U) << "the first one, and those that were ready then";
  CloseAndEnd();
}

TEST_F(GrpcStreamTaskTest, AnswersOfOneModelKeepTheOrderOfTheirRequests) {
  Request* const first = Admit("m", "1");
  Request* const second = Admit("m", "2");
  Request* const other = Admit("n", "3");
  second->reply.Send(FakeAnswer({1}));
  other->reply.Send(FakeAnswer({1}));
  EXPECT_EQ(NextId(), "3") << "another model's answer waits for nobody";
  first->reply.Send(FakeAnswer({1}));
  EXPECT_EQ(NextId(), "1");
  EXPECT_EQ(NextId(), "2");
  CloseAndEnd();
}

TEST_F(GrpcStreamTaskTest, AnErrorIsAMessageOfTheStream) {
  Admit("m", "1")->reply.Fail(absl::InternalError("it broke"));
  const inference::ModelStreamInferResponse response = NextResponse();
  EXPECT_EQ(response.error_message(), "it broke");
  EXPECT_EQ(response.infer_response().id(), "1");
  Admit("m", "2")->reply.Send(FakeAnswer({1}));
  EXPECT_EQ(NextId(), "2");
  CloseAndEnd();
}

TEST_F(GrpcStreamTaskTest, BytesThatAreNoRequestAreAnError) {
  OpenStream();
  Send("\xff\xff");
  EXPECT_EQ(NextError(), "the bytes are not a ModelInferRequest");
  EXPECT_EQ(handler_.count(), 0U);
  CloseAndEnd();
}

TEST_F(GrpcStreamTaskTest, AMessageThatIsTooLargeEndsTheStream) {
  Admit("m", "1");
  SendBytes(std::string("\0\0\x10\0\1", 5));
  EXPECT_EQ(handler_.queue.cancelled, 1);
  Over("grpc-status: 8\r\ngrpc-message: Received message larger than max (1048577 vs. 1048576)");
}

TEST_F(GrpcStreamTaskTest, AFlagWithoutMeaningEndsTheStream) {
  for (const char* flag : {"\1", "\2"}) {
    OpenStream();
    SendBytes(flag + std::string(4, '\0'));
    Over("grpc-status: 13\r\n");
  }
}

TEST_F(GrpcStreamTaskTest, AMessageThatTheClientDoesNotEndIsNone) {
  OpenStream();
  const std::string whole = InGrpcForm(InferBytes("m", "1"));
  SendBytes(whole.substr(0, whole.size() - 1));
  CloseAndEnd();
  EXPECT_EQ(handler_.count(), 0U);
}

TEST_F(GrpcStreamTaskTest, ABodyWithoutRoomEndsTheStream) {
  OpenStream();
  task_->Serve(BodyEnd::kTooMany);
  Over("grpc-status: 8\r\n");
}

TEST_F(GrpcStreamTaskTest, SeveralAnswersAreAskedForOneAfterTheOther) {
  Request* const request = Admit("many", "1", /*final_flag=*/true);
  for (int i = 0; i < 3; ++i) {
    handler_.SendPart(request, {1});
    EXPECT_EQ(handler_.queue.continued, i) << "it is not written yet";
    const inference::ModelStreamInferResponse part = NextResponse();
    EXPECT_FALSE(part.infer_response().parameters().at("triton_final_response").bool_param());
    EXPECT_EQ(handler_.queue.continued, i + 1);
  }
  request->reply.End();
  const inference::ModelStreamInferResponse last = NextResponse();
  EXPECT_TRUE(last.infer_response().parameters().at("triton_final_response").bool_param());
  EXPECT_EQ(last.infer_response().outputs_size(), 0);
  CloseAndEnd();
}

TEST_F(GrpcStreamTaskTest, AnEndThatTheClientDoesNotAskForIsNotWritten) {
  Admit("many", "1")->reply.End();
  Admit("many", "2")->reply.Fail(absl::InternalError("it broke"));
  EXPECT_EQ(NextError(), "it broke");
  CloseAndEnd();
}

TEST_F(GrpcStreamTaskTest, AnErrorOfADecoupledModelIsFollowedByItsEnd) {
  Admit("many", "1", /*final_flag=*/true)->reply.Fail(absl::InternalError("it broke"));
  EXPECT_EQ(NextError(), "it broke");
  EXPECT_EQ(NextId(), "1");
  CloseAndEnd();
}

TEST_F(GrpcStreamTaskTest, ARequestWithSeveralAnswersKeepsNobodyWaiting) {
  Request* const several = Admit("many", "1");
  Request* const behind = Admit("many", "2");
  behind->reply.Send(FakeAnswer({1}));
  handler_.SendPart(several, {1});
  EXPECT_EQ(NextId(), "2");
  EXPECT_EQ(NextId(), "1");
  EXPECT_EQ(handler_.queue.continued, 1);
  several->reply.End();
  // The next ones are in line again.
  Request* const third = Admit("m", "3");
  Request* const fourth = Admit("m", "4");
  fourth->reply.Send(FakeAnswer({1}));
  EXPECT_FALSE(HasNext());
  third->reply.Send(FakeAnswer({1}));
  EXPECT_EQ(NextId(), "3");
  EXPECT_EQ(NextId(), "4");
  CloseAndEnd();
}

// The client's window stays shut meanwhile.
TEST_F(GrpcStreamTaskTest, NoMoreIsReadWhileTooManyAreInside) {
  OpenStream();
  for (size_t i = 0; i < kMaxStreamRequests; ++i) Admit("many", "");
  Send(InferBytes("m", "one too many"));
  EXPECT_EQ(handler_.count(), kMaxStreamRequests);
  Send(InferBytes("m", "and another one"));
  EXPECT_GT(call_->untaken_bytes(), 0U);
  const std::vector<Request*> requests = handler_.requests();
  requests[0]->reply.Send(FakeAnswer({1}));
  PumpResumed();
  EXPECT_EQ(handler_.count(), kMaxStreamRequests) << "the answer is not taken yet";
  NextId();
  EXPECT_EQ(handler_.ids().back(), "one too many");
  // An answer without bytes makes room at once.
  std::thread([&] { requests[1]->reply.End(); }).join();
  PumpResumed();
  EXPECT_EQ(handler_.ids().back(), "and another one");
  EXPECT_EQ(call_->untaken_bytes(), 0U);
  task_->ClientLeft();
  for (size_t taken = 0; !is_over() && taken < 1; ++taken) task_->PartTaken(false);
  Over("grpc-status");
  EXPECT_EQ(many_.count(), 0U);
}

TEST_F(GrpcStreamTaskTest, NoMoreIsReadWhileTooManyAnswersAreNotTaken) {
  OpenStream();
  for (size_t i = 0; i < kMaxStreamRequests; ++i) Admit("m", "")->reply.Send(Large());
  Send(InferBytes("m", "one too many"));
  EXPECT_EQ(handler_.count(), kMaxStreamRequests);
  EXPECT_EQ(many_.count(), kMaxStreamRequests);
  NextId();
  EXPECT_EQ(handler_.ids().back(), "one too many");
  task_->ClientLeft();
  task_->PartTaken(false);
  Over("grpc-status");
  EXPECT_EQ(many_.count(), 0U);
}

// Such as requests that wait for memory. The client's window stays shut meanwhile.
TEST_F(GrpcStreamTaskTest, NoMoreIsReadWhileRequestsHoldTooMuch) {
  OpenStream();
  handler_.copies = false;
  const std::string bytes = InGrpcForm(InferBytes("many", std::string(100'000, 'x')));
  while (call_->untaken_bytes() == 0) SendBytes(bytes);
  EXPECT_EQ(handler_.count(), kMaxStreamHeldBytes / bytes.size() + 1);
  const size_t held = handler_.count();
  std::thread([&] { handler_.requests()[0]->reply.End(); }).join();
  EXPECT_EQ(handler_.count(), held);
  PumpResumed();
  EXPECT_EQ(handler_.count(), held + 1);
  handler_.copies = true;
  for (size_t i = 1; i < handler_.count(); ++i) {
    handler_.requests()[i]->reply.End();
    PumpResumed();
  }
  CloseAndEnd();
}

TEST_F(GrpcStreamTaskTest, RequestsBeyondTheModelsShareAreErrorsOfTheStream) {
  CountIn(&open_infer_calls_);
  OpenStream();
  std::vector<Request*> inside;
  while (inside.size() < (kOpenCalls + 1) / 3) inside.push_back(Admit("slow", "inside"));
  Send(InferBytes("slow", "beyond"));
  EXPECT_EQ(open_infer_calls_.count(), inside.size()) << "a refused one has no place";
  Admit("other", "1")->reply.Send(FakeAnswer({1}));
  EXPECT_EQ(NextId(), "1");
  for (Request* request : inside) {
    request->reply.Send(FakeAnswer({1}));
    EXPECT_EQ(NextId(), "inside");
  }
  EXPECT_EQ(NextError(), "too many calls to this model are open");
  Admit("slow", "again")->reply.Send(FakeAnswer({1}));
  EXPECT_EQ(NextId(), "again");
  CloseAndEnd();
}

TEST_F(GrpcStreamTaskTest, AnAnswerThatIsNotTakenKeepsItsPlace) {
  OpenStream();
  for (const char* id : {"1", "2"}) Admit("m", id)->reply.Send(Large());
  EXPECT_EQ(many_.count(), 2U);
  for (const char* id : {"1", "2"}) EXPECT_EQ(NextId(), id);
  EXPECT_EQ(many_.count(), 0U);
  CloseAndEnd();
}

TEST_F(GrpcStreamTaskTest, AnAnswerHasItsTimeFromItsDeadlineOrItsTurnOn) {
  Request* const first = Admit("m", "1");
  const int64_t first_ns = first->deadline_ns + kUntakenAnswerNs;
  first->reply.Send(Large());
  Admit("m", "2")->reply.Send(Large());
  ASSERT_EQ(call_->parts.size(), 1U);
  EXPECT_EQ(call_->parts[0].taken_by_ns, first_ns);
  clock_.Advance(first_ns - clock_.NowNs());
  NextId();
  ASSERT_EQ(call_->parts.size(), 2U);
  EXPECT_EQ(call_->parts[1].taken_by_ns, first_ns + kUntakenAnswerNs);
  NextId();
  CloseAndEnd();
}

TEST_F(GrpcStreamTaskTest, AStreamWhoseClientTakesNoAnswerEnds) {
  Admit("m", "1")->reply.Send(Large());
  Admit("m", "2")->reply.Send(Large());
  Admit("n", "still inside");
  task_->PartTaken(false);
  EXPECT_EQ(handler_.queue.cancelled, 1);
  EXPECT_EQ(call_->parts.size(), 1U) << "nothing more can be written";
  Over(kUntaken);
  EXPECT_EQ(many_.count(), 0U);
}

TEST_F(GrpcStreamTaskTest, AClientThatClosesItsSideGetsAllAnswers) {
  Request* const first = Admit("m", "1");
  Request* const second = Admit("m", "2");
  task_->Serve(BodyEnd::kWhole);
  first->reply.Send(FakeAnswer({1}));
  EXPECT_EQ(NextId(), "1");
  EXPECT_FALSE(is_over());
  std::thread([&] { second->reply.Send(FakeAnswer({1})); }).join();
  EXPECT_FALSE(is_over());
  EXPECT_EQ(NextId(), "2");
  Over("grpc-status: 0\r\n");
}

TEST_F(GrpcStreamTaskTest, AClientThatLeavesEndsItsRequests) {
  Admit("m", "1");
  Admit("n", "2");
  task_->ClientLeft();
  EXPECT_EQ(handler_.queue.cancelled, 2);
  Over("grpc-status: 4\r\n");
}

TEST_F(GrpcStreamTaskTest, AStreamOfAClientThatLeftStopsSeveralAnswers) {
  Request* const request = Admit("many", "1");
  // The ending stays owed while an answer is on its way.
  request->state = RequestState::kAnswering;
  task_->ClientLeft();
  EXPECT_FALSE(is_over());
  request->reply.SendPart(FakeAnswer({1}));
  EXPECT_EQ(handler_.queue.continued, 1);
  Over("grpc-status: 4\r\n");
}

TEST_F(GrpcStreamTaskTest, AClientThatLeavesStopsThoseWhoseAnswerIsNotTakenToo) {
  OpenStream();
  for (const char* id : {"1", "2"}) {
    Request* const request = Admit("many", id);
    request->state = RequestState::kAnswering;
    request->reply.SendPart(Large());
  }
  task_->ClientLeft();
  EXPECT_EQ(handler_.queue.continued, 1) << "the other one is being written";
  task_->PartTaken(false);
  EXPECT_EQ(handler_.queue.continued, 2);
  Over("grpc-status: 4\r\n");
}

TEST_F(GrpcStreamTaskTest, TheCallsDeadlineIsThatOfItsRequests) {
  OpenStream("grpc-timeout: 1000H\r\n");
  EXPECT_EQ(*call_->streams_until_ns, clock_.NowNs() + 1000 * kHourNs);
  EXPECT_EQ(Admit("m", "")->deadline_ns, clock_.NowNs() + kMaxTimeoutNs);
  clock_.Advance(1000 * kHourNs - kNsPerSecond);
  EXPECT_EQ(Admit("m", "")->deadline_ns, clock_.NowNs() + kNsPerSecond);
  for (Request* request : handler_.requests()) request->reply.Send(FakeAnswer({1}));
  NextId();
  NextId();
  clock_.Advance(kNsPerSecond);
  Send(InferBytes("m"));
  EXPECT_NE(NextError(), "");
  CloseAndEnd();
  OpenStream();
  EXPECT_EQ(Admit("m", "")->deadline_ns, clock_.NowNs() + kDefaultTimeoutNs);
  clock_.Advance(kHourNs);
  EXPECT_EQ(Admit("m", "")->deadline_ns, clock_.NowNs() + kDefaultTimeoutNs);
  task_->ClientLeft();
  Over("grpc-status: 4\r\n");
  EXPECT_EQ(OpenStream("grpc-timeout: soon\r\n"), nullptr);
  EXPECT_TRUE(absl::StrContains(Status(), "grpc-status: 3\r\n")) << Status();
}

TEST_F(GrpcStreamTaskTest, ACallerThatTheGateRefusesIsNotRead) {
  gate_.SetRules(TestRules({}));
  EXPECT_EQ(OpenStream(), nullptr);
  EXPECT_TRUE(absl::StrContains(Status(), "grpc-status: 16\r\n")) << Status();
  EXPECT_EQ(open_stream_calls_.count(), 0U);
}

TEST_F(GrpcStreamTaskTest, StreamsAreBounded) {
  OpenCalls none(0, &metrics_.refused_calls);
  context_.open_stream_calls = &none;
  door_ = std::make_unique<HttpDoor>(context_, &thread_);
  EXPECT_EQ(OpenStream(), nullptr);
  EXPECT_TRUE(absl::StrContains(Status(), "grpc-status: 8\r\n")) << Status();
}

TEST_F(GrpcStreamTaskTest, EachRequestIsHeldToTheRulesOfItsModel) {
  gate_.SetRules(TestRules({TokenRule("ops", Role::kInfer, {"m"})}));
  OpenStream("authorization: Bearer ops-secret\r\n");
  Admit("m", "1")->reply.Send(FakeAnswer({1}));
  EXPECT_EQ(NextId(), "1");
  Send(InferBytes("other", "2"));
  EXPECT_NE(NextError(), "");
  EXPECT_EQ(access_metrics_.denied_calls, 1U);
  // Other rules come, and the next request is held to these.
  gate_.SetRules(TestRules({TokenRule("ops", Role::kInfer, {"other"})}));
  Admit("other", "3")->reply.Send(FakeAnswer({1}));
  EXPECT_EQ(NextId(), "3");
  CloseAndEnd();
  EXPECT_EQ(handler_.count(), 2U);
}

TEST_F(GrpcStreamTaskTest, ATraceIsEchoedWithTheFirstMessage) {
  constexpr char kTrace[] =
      "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\n";
  OpenStream(kTrace);
  for (const char* id : {"1", "2"}) {
    Admit("m", id)->reply.Send(FakeAnswer({1}));
    NextId();
  }
  EXPECT_EQ(call_->parts[0].headers, kTrace);
  EXPECT_EQ(call_->parts[1].headers, "");
  CloseAndEnd();
  OpenStream(kTrace);
  CloseAndEnd();
  EXPECT_TRUE(absl::StrContains(call_->reply->headers, kTrace));
}

TEST_F(GrpcStreamTaskTest, LargeAnswersThatAreNotTakenAreBounded) {
  OpenStream();
  const std::vector<float> values(5000, 1);  // over kCopiedReplyBytes
  std::vector<std::string> errors;
  for (int i = 0; i < 4; ++i) Admit("many", absl::StrCat(i))->reply.Send(FakeAnswer(values));
  while (HasNext()) errors.push_back(NextError());
  EXPECT_THAT(errors, testing::ElementsAre("", testing::HasSubstr("have not been read"),
                                           testing::HasSubstr("have not been read"),
                                           testing::HasSubstr("have not been read")));
  EXPECT_EQ(unread_.taken_bytes(), 0U);
  CloseAndEnd();
}

// The ones behind a compressed request wait, so that their order stays.
TEST_F(GrpcStreamTaskTest, CompressedRequestsAreInflatedOneAfterTheOther) {
  inflaters_.Start("inflate", 1);
  OpenStream("grpc-encoding: gzip\r\n");
  const std::string id(2000, 'x');
  SendCompressed(InferBytes("m", id));
  Send(InferBytes("m", "plain"));
  EXPECT_EQ(handler_.count(), 0U);
  AwaitResumed();
  EXPECT_EQ(handler_.ids(), (std::vector<std::string>{id, "plain"}));
  EXPECT_EQ(inflated_.taken_bytes(), 0U) << "nobody reads the payloads any more";
  for (Request* request : handler_.requests()) request->reply.Send(FakeAnswer({1}));
  EXPECT_EQ(NextId(), id);
  EXPECT_EQ(NextId(), "plain");
  SendCompressed(InferBytes("m", std::string(kMessageBytes + 1, 'x')));
  AwaitResumed();
  EXPECT_NE(NextError(), "");
  EXPECT_EQ(handler_.count(), 2U);
  CloseAndEnd();
}

TEST_F(GrpcStreamTaskTest, AClientThatLeavesWhileARequestIsInflatedIsNotServed) {
  OpenStream("grpc-encoding: gzip\r\n");
  SendCompressed(InferBytes("m", std::string(2000, 'x')));
  task_->ClientLeft();
  EXPECT_FALSE(is_over());
  inflaters_.Start("inflate", 1);
  AwaitResumed();
  EXPECT_EQ(handler_.count(), 0U);
  Over("grpc-status: 4\r\n");
}

TEST_F(GrpcStreamTaskTest, ARequestThatWasInflatedForAnEndedStreamIsNotServed) {
  inflaters_.Start("inflate", 1);
  OpenStream("grpc-encoding: gzip\r\n");
  Admit("m", "1")->reply.Send(Large());
  SendCompressed(InferBytes("m", "2"));
  AwaitInflation();
  task_->PartTaken(false);
  PumpResumed();
  EXPECT_EQ(handler_.count(), 1U);
  Over(kUntaken);
}

TEST_F(GrpcStreamTaskTest, CompressionMayBeOff) {
  context_.inflaters = nullptr;
  CountIn(&many_);
  EXPECT_EQ(OpenStream("grpc-encoding: gzip\r\n"), nullptr);
  EXPECT_TRUE(absl::StrContains(Status(), "grpc-status: 12\r\n")) << Status();
}

TEST_F(GrpcStreamTaskTest, RequestsWhoseTextsWereEncodedElsewhereComeBack) {
  OpenStream();
  handler_.awaits_texts = true;
  for (const char* id : {"1", "2"}) Send(InferBytes("m", id));
  ASSERT_EQ(handler_.waiters.size(), 2U);
  handler_.awaits_texts = false;
  std::thread([this] {
    for (size_t i = 2; i > 0; --i) handler_.waiters[i - 1]->TextsDone(absl::OkStatus());
  }).join();
  AwaitResumed();
  EXPECT_EQ(handler_.ids(), std::vector<std::string>{"2"});
  AwaitResumed();
  EXPECT_EQ(handler_.ids(), (std::vector<std::string>{"2", "1"}));
  for (Request* request : handler_.requests()) request->reply.Send(FakeAnswer({1}));
  EXPECT_EQ(NextId(), "1");
  EXPECT_EQ(NextId(), "2");
  CloseAndEnd();
}

// A request that comes back late still finds its task.
TEST_F(GrpcStreamTaskTest, AStreamThatAClientLeftAwaitsWhatComesBack) {
  OpenStream();
  handler_.awaits_texts = true;
  Send(InferBytes("m", "1"));
  task_->ClientLeft();
  handler_.texts->TextsDone(absl::OkStatus());
  EXPECT_FALSE(is_over());
  AwaitResumed();
  EXPECT_EQ(handler_.count(), 0U);
  Over("grpc-status: 4\r\n");
}

TEST_F(GrpcStreamTaskTest, AStopAnswersWhatIsInsideAndEndsTheStream) {
  Request* const request = Admit("m", "1");
  task_->EndSoon();
  EXPECT_FALSE(is_over());
  Send(InferBytes("m", "2"));
  EXPECT_EQ(handler_.count(), 1U) << "what came after the stop is not served";
  request->reply.Send(FakeAnswer({1}));
  EXPECT_EQ(NextId(), "1");
  Over("grpc-status: 14\r\ngrpc-message: Server exiting\r\n");
}

TEST_F(GrpcStreamTaskTest, AnIdleStreamEndsAtOnceWhenTheServerStops) {
  OpenStream();
  task_->EndSoon();
  task_->EndSoon();
  Over("grpc-status: 14\r\ngrpc-message: Server exiting\r\n");
}

}  // namespace
}  // namespace mpsd
