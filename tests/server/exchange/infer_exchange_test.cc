#include "server/exchange/infer_exchange.h"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "proto/base/fd.h"
#include "server/request/served_model.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_device_copier.h"
#include "tests/fakes/fake_infer_handler.h"
#include "tests/fakes/fake_transport.h"
#include "tests/fakes/heap_count.h"

namespace mpsd {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr size_t kOk = static_cast<size_t>(absl::StatusCode::kOk);
constexpr size_t kCancelled = static_cast<size_t>(absl::StatusCode::kCancelled);
constexpr size_t kNotFound = static_cast<size_t>(absl::StatusCode::kNotFound);
constexpr size_t kInternal = static_cast<size_t>(absl::StatusCode::kInternal);
constexpr int64_t kTimeoutNs = kNsPerSecond;

class InferExchangeTest : public testing::Test {
 protected:
  InferExchangeTest() { call_.connection = connection_; }

  void Begin(FakeTransport* call) {
    call->exchange.Begin({clock_.NowNs(), clock_.NowNs() + kTimeoutNs, &trace_});
  }

  // A request up to its admission.
  void Serve(FakeTransport* call) {
    Begin(call);
    call->exchange.Admit(call->exchange.Read());
  }

  uint64_t CountOf(const std::string& model, size_t code) {
    return handler_.Model(model)->metrics.requests_by_code[code];
  }

  // The client's region "gpu": the 8 bytes of the device's memory 'a'.
  void RegisterDevice() {
    copier_.memories['a'] = "12345678";
    RegionSpec spec;
    spec.name = "gpu";
    spec.handle = FakeHandle('a');
    spec.bytes = 8;
    absl::Status answer = absl::UnknownError("none");
    regions_.RegisterDevice(connection_, spec,
                            [&](const absl::Status& status) { answer = status; });
    copier_.RunTasks();
    ASSERT_TRUE(answer.ok()) << answer;
  }

  static RegionUse Input(absl::string_view region, uint64_t bytes = 8) {
    return {/*is_output=*/false, 0, region, 0, bytes};
  }
  static RegionUse Output(absl::string_view region, uint64_t bytes = 8) {
    return {/*is_output=*/true, 0, region, 0, bytes};
  }

  FakeClock clock_;
  ServerMetrics metrics_;
  FakeInferHandler handler_;
  FakeDeviceCopier copier_;
  const ConnectionId connection_ = std::make_shared<ConnectionMark>("ipv4:127.0.0.1:1");
  ClientRegions regions_{{0, 1000, 4096, 4096}, &copier_, &metrics_};
  ThreadRole thread_;
  const TraceContext trace_;
  const ExchangeContext context_{&handler_, &metrics_, &clock_, &regions_, &thread_, {}};
  FakeTransport call_{&context_};
};

TEST_F(InferExchangeTest, TakesARequestFromItsBytesToItsAnswer) {
  call_.id = "7";
  call_.tenant = 3;
  call_.rules_version = 5;
  Serve(&call_);
  EXPECT_THAT(call_.TakeNotes(), ElementsAre("read", "may use m", "drop payloads"));
  EXPECT_EQ(handler_.last()->tenant, 3u);
  EXPECT_EQ(handler_.last()->rules_version, 5u);
  EXPECT_THAT(handler_.ids(), ElementsAre("7"));
  EXPECT_EQ(handler_.last()->arrival_ns, clock_.NowNs());
  EXPECT_EQ(handler_.last()->deadline_ns, clock_.NowNs() + kTimeoutNs);
  handler_.last()->reply.Send(FakeAnswer({1, 2}));
  EXPECT_THAT(call_.TakeNotes(), ElementsAre("write last", "send last"));
  ASSERT_EQ(call_.written.size(), 1u);
  EXPECT_EQ(call_.written[0].size(), 2 * sizeof(float));
  EXPECT_EQ(CountOf("m", kOk), 1u);
}

TEST_F(InferExchangeTest, ARequestMayBeAdmittedByItsBeginning) {
  handler_.rest = "????";
  call_.tenant = 3;
  Begin(&call_);
  const absl::Span<char> rest = call_.exchange.AdmitBeginning({});
  EXPECT_EQ(rest.data(), handler_.rest.data());
  EXPECT_EQ(rest.size(), 4U);
  EXPECT_TRUE(call_.exchange.is_arriving());
  EXPECT_EQ(handler_.last()->tenant, 3u);
  EXPECT_THAT(call_.TakeNotes(), ElementsAre("read"));
  EXPECT_THAT(handler_.queue.committed, IsEmpty());
  call_.exchange.RestIsThere(absl::OkStatus());
  EXPECT_FALSE(call_.exchange.is_arriving());
  EXPECT_THAT(handler_.queue.committed, ElementsAre(handler_.last()));
  EXPECT_THAT(call_.TakeNotes(), ElementsAre("drop payloads"));
  handler_.last()->reply.Send(FakeAnswer({1, 2}));
  EXPECT_THAT(call_.TakeNotes(), ElementsAre("write last", "send last"));
  EXPECT_EQ(CountOf("m", kOk), 1u);
}

TEST_F(InferExchangeTest, ARequestWhoseRestDoesNotComeSaysWhy) {
  handler_.rest = "????";
  Begin(&call_);
  ASSERT_FALSE(call_.exchange.AdmitBeginning({}).empty());
  call_.TakeNotes();
  call_.exchange.RestIsThere(absl::DeadlineExceededError("too slow"));
  EXPECT_EQ(handler_.queue.cancelled, 1);
  EXPECT_THAT(call_.TakeNotes(),
              ElementsAre("send error DEADLINE_EXCEEDED: too slow", "drop payloads"));
}

TEST_F(InferExchangeTest, ARequestThatMustBeWholeIsAsItWas) {
  Begin(&call_);
  EXPECT_TRUE(call_.exchange.AdmitBeginning({}).empty()) << "the handler takes none";
  handler_.rest = "????";
  call_.reads_beginning = false;
  EXPECT_TRUE(call_.exchange.AdmitBeginning({}).empty());
  EXPECT_FALSE(call_.exchange.is_arriving());
  call_.TakeNotes();
  call_.exchange.Admit(call_.exchange.Read());
  EXPECT_THAT(call_.TakeNotes(), ElementsAre("read", "may use m", "drop payloads"));
  handler_.last()->reply.Send(FakeAnswer({1, 2}));
}

TEST_F(InferExchangeTest, EqualTextsGetARowEach) {
  Serve(&call_);
  call_.TakeNotes();
  handler_.last()->row_of_text = {0, 1, 0};
  handler_.last()->reply.Send(FakeAnswer({1, 2}));
  EXPECT_THAT(call_.TakeNotes(), ElementsAre("write last", "send last"));
  ASSERT_EQ(call_.written.size(), 1u);
  EXPECT_EQ(call_.written[0].size(), 3 * sizeof(float));
  call_.exchange.Clear();
  Serve(&call_);
  handler_.last()->reply.Send(FakeAnswer({1, 2}));
  EXPECT_EQ(call_.written[0].size(), 2 * sizeof(float));
}

TEST_F(InferExchangeTest, IsUsedAgain) {
  for (const char* id : {"1", "2", "3"}) {
    call_.id = id;
    Serve(&call_);
    handler_.last()->reply.Send(FakeAnswer({1}));
    call_.exchange.Clear();
    EXPECT_EQ(call_.exchange.message().id, "");
    EXPECT_EQ(call_.exchange.request().model, nullptr);
  }
  EXPECT_THAT(handler_.ids(), ElementsAre("1", "2", "3"));
  EXPECT_EQ(CountOf("m", kOk), 3u);
}

TEST_F(InferExchangeTest, ATransportsRefusalIsTheAnswer) {
  Begin(&call_);
  call_.exchange.Admit(absl::PermissionDeniedError("no"));
  EXPECT_THAT(call_.TakeNotes(), ElementsAre("send error PERMISSION_DENIED: no"));
  EXPECT_EQ(handler_.count(), 0u);
}

TEST_F(InferExchangeTest, BytesThatCannotBeReadAreNotAskedAbout) {
  call_.read_status = absl::InvalidArgumentError("these bytes");
  Serve(&call_);
  EXPECT_THAT(call_.TakeNotes(), ElementsAre("read", "send error INVALID_ARGUMENT: these bytes"));
  EXPECT_EQ(handler_.count(), 0u);
}

TEST_F(InferExchangeTest, TheGateIsAskedAboutTheModelBeforeItIsLookedFor) {
  call_.may_use = absl::PermissionDeniedError("not that one");
  call_.regions = {Input("gpu")};
  Serve(&call_);
  EXPECT_THAT(call_.TakeNotes(),
              ElementsAre("read", "may use m", "send error PERMISSION_DENIED: not that one"));
  EXPECT_EQ(handler_.count(), 0u);
}

TEST_F(InferExchangeTest, ARefusalBeforeThereIsAModelCountsForTheServer) {
  handler_.refusal = absl::NotFoundError("no such model");
  call_.when_ended = [&] { EXPECT_EQ(metrics_.refused_by_code[kNotFound], 1u); };
  Serve(&call_);
  EXPECT_THAT(
      call_.TakeNotes(),
      ElementsAre("read", "may use m", "send error NOT_FOUND: no such model", "drop payloads"));
  EXPECT_EQ(metrics_.refused_by_code[kNotFound], 1u);
}

TEST_F(InferExchangeTest, TheFieldsGoWithTheLastOfTheirReaders) {
  Serve(&call_);
  EXPECT_EQ(call_.fields_dropped, 0) << "the answer names the request";
  call_.when_ended = [&] { EXPECT_EQ(call_.fields_dropped, 1) << "the client may be slow"; };
  handler_.last()->reply.Send(FakeAnswer({1}));
  call_.exchange.Clear();
  call_.when_ended = [&] { EXPECT_EQ(call_.fields_dropped, 1) << "admission may read them"; };
  handler_.answers_at_once = true;
  Serve(&call_);
  EXPECT_EQ(call_.fields_dropped, 2);
}

TEST_F(InferExchangeTest, AnAnswerIsCountedBeforeItIsSent) {
  Serve(&call_);
  call_.when_ended = [&] { EXPECT_EQ(CountOf("m", kOk), 1u); };
  handler_.last()->reply.Send(FakeAnswer({1}));
  call_.exchange.Clear();
  Serve(&call_);
  call_.when_ended = [&] { EXPECT_EQ(CountOf("m", kInternal), 1u); };
  handler_.last()->reply.Fail(absl::InternalError("it broke"));
  EXPECT_EQ(CountOf("m", kOk) + CountOf("m", kInternal), 2u);
}

TEST_F(InferExchangeTest, ARequestIsAwaitedUntilItsDeadline) {
  Begin(&call_);
  EXPECT_TRUE(call_.exchange.CheckAwaited(clock_.NowNs() + kTimeoutNs - 1).ok());
  const absl::Status late = call_.exchange.CheckAwaited(clock_.NowNs() + kTimeoutNs);
  EXPECT_EQ(late, absl::DeadlineExceededError("Request timeout expired"));
  call_.exchange.Admit(late);
}

TEST_F(InferExchangeTest, ARequestWhoseClientHasLeftIsNotAwaited) {
  Begin(&call_);
  call_.exchange.ClientLeft();
  const absl::Status gone = call_.exchange.CheckAwaited(clock_.NowNs());
  EXPECT_EQ(gone, absl::CancelledError("Request was cancelled"));
  call_.exchange.Admit(gone);
  EXPECT_EQ(metrics_.refused_by_code[kCancelled], 1u);
  call_.exchange.Clear();
  Begin(&call_);
  EXPECT_TRUE(call_.exchange.CheckAwaited(clock_.NowNs()).ok()) << "this is another client";
  call_.exchange.Admit(absl::InternalError("over"));
}

TEST_F(InferExchangeTest, AnAdmittedRequestWhoseClientLeavesIsCancelledInItsQueue) {
  Serve(&call_);
  call_.TakeNotes();
  call_.exchange.ClientLeft();
  EXPECT_EQ(handler_.queue.cancelled, 1);
  EXPECT_THAT(call_.TakeNotes(), ElementsAre("send error CANCELLED: cancelled"));
  EXPECT_EQ(CountOf("m", kCancelled), 1u);
}

TEST_F(InferExchangeTest, AClientThatLeavesAfterTheEndingChangesNothing) {
  Serve(&call_);
  handler_.last()->reply.Send(FakeAnswer({1}));
  call_.TakeNotes();
  call_.exchange.ClientLeft();
  EXPECT_THAT(call_.TakeNotes(), IsEmpty());
  EXPECT_EQ(CountOf("m", kCancelled), 0u);
}

TEST_F(InferExchangeTest, PayloadsStayWhileTheRequestWaitsForMemory) {
  handler_.copies = false;
  Serve(&call_);
  EXPECT_THAT(call_.TakeNotes(), ElementsAre("read", "may use m"));
  handler_.last()->reply.Send(FakeAnswer({1}));
  EXPECT_THAT(call_.TakeNotes(), ElementsAre("write last", "send last"));
}

TEST_F(InferExchangeTest, AnAnswerThatCannotBeWrittenIsAnError) {
  Serve(&call_);
  call_.TakeNotes();
  call_.write_status = absl::ResourceExhaustedError("too much is unread");
  handler_.last()->reply.Send(FakeAnswer({1}));
  EXPECT_THAT(call_.TakeNotes(),
              ElementsAre("write last", "send error RESOURCE_EXHAUSTED: too much is unread"));
  EXPECT_EQ(CountOf("m", kOk), 0u);
}

TEST_F(InferExchangeTest, AFullQueueNamesItsRequest) {
  call_.id = "7";
  for (const char* text :
       {"Exceeds maximum queue size", "[request id: 7] Exceeds maximum queue size"}) {
    Serve(&call_);
    call_.TakeNotes();
    handler_.last()->reply.Fail(absl::ResourceExhaustedError(text));
    EXPECT_THAT(call_.TakeNotes(), Contains("send error RESOURCE_EXHAUSTED: [request id: 7] "
                                            "Exceeds maximum queue size"));
    call_.exchange.Clear();
  }
}

TEST_F(InferExchangeTest, OutputsGetTheFormThatTheClientWants) {
  call_.classes = {{"y", 1}};
  Serve(&call_);
  const std::vector<float> values = {1, 5, 2};
  Answer answer = FakeAnswer(values);
  handler_.last()->reply.Send(answer);
  ASSERT_EQ(call_.written.size(), 1u);
  EXPECT_THAT(call_.written[0], HasSubstr("5.000000:1"));
}

TEST_F(InferExchangeTest, AnOutputWithoutThatFormIsTheRequestsFailure) {
  call_.classes = {{"y", 1}};
  Serve(&call_);
  call_.TakeNotes();
  Answer answer = FakeAnswer({1});
  answer.outputs[0].datatype = DataType::kBytes;
  handler_.last()->reply.Send(answer);
  EXPECT_THAT(call_.TakeNotes(), ElementsAre(HasSubstr("send error INVALID_ARGUMENT")));
  EXPECT_EQ(CountOf("m", kOk), 0u);
}

TEST_F(InferExchangeTest, ARegionThatIsNotThereIsTheRequestsFailure) {
  call_.regions = {Input("nowhere")};
  Serve(&call_);
  EXPECT_THAT(call_.TakeNotes(), ElementsAre("read", "may use m", HasSubstr("NOT_FOUND")));
  EXPECT_EQ(handler_.count(), 0u);
  call_.exchange.Clear();
  EXPECT_EQ(regions_.copies()->taken_bytes(), 0u);
}

TEST_F(InferExchangeTest, InputsOnADeviceAreCopiedBeforeAdmission) {
  RegisterDevice();
  call_.regions = {Input("gpu")};
  Serve(&call_);
  EXPECT_THAT(call_.TakeNotes(), ElementsAre("read", "may use m"));
  copier_.RunTasks();
  EXPECT_THAT(call_.TakeNotes(), ElementsAre("resume"));
  EXPECT_EQ(handler_.count(), 0u) << "not on the copier's thread";
  const InputMessage& input = call_.exchange.message().inputs[0];
  EXPECT_EQ(input.payload.pieces[0], "12345678");
  call_.exchange.Resumed();
  EXPECT_THAT(call_.TakeNotes(), ElementsAre("drop payloads"));
  EXPECT_EQ(regions_.copies()->taken_bytes(), 0u);
  handler_.last()->reply.Send(FakeAnswer({1}));
}

TEST_F(InferExchangeTest, LongTextsAreEncodedBeforeAdmission) {
  handler_.awaits_texts = true;
  Serve(&call_);
  EXPECT_THAT(call_.TakeNotes(), ElementsAre("read", "may use m"));
  ASSERT_NE(handler_.texts, nullptr);
  EXPECT_TRUE(handler_.texts->GoOn().ok());
  handler_.texts->TextsDone(absl::OkStatus());
  EXPECT_THAT(call_.TakeNotes(), ElementsAre("resume"));
  EXPECT_EQ(handler_.count(), 0u) << "not on the thread that encodes";
  handler_.awaits_texts = false;
  call_.exchange.Resumed();
  EXPECT_THAT(call_.TakeNotes(), ElementsAre("drop payloads"));
  handler_.last()->reply.Send(FakeAnswer({1}));
}

TEST_F(InferExchangeTest, TextsThatCannotBeEncodedAreTheRequestsFailure) {
  handler_.awaits_texts = true;
  Serve(&call_);
  handler_.texts->TextsDone(absl::InvalidArgumentError("text 3: it is too long"));
  call_.TakeNotes();
  call_.exchange.Resumed();
  EXPECT_THAT(call_.TakeNotes(),
              ElementsAre("send error INVALID_ARGUMENT: text 3: it is too long"));
}

TEST_F(InferExchangeTest, TextsAreNotEncodedForAClientThatLeftOrADeadlineThatPassed) {
  handler_.awaits_texts = true;
  for (const bool leaves : {true, false}) {
    Serve(&call_);
    leaves ? call_.exchange.ClientLeft() : clock_.Advance(kTimeoutNs);
    const absl::Status status = handler_.texts->GoOn();
    EXPECT_EQ(status.code(),
              leaves ? absl::StatusCode::kCancelled : absl::StatusCode::kDeadlineExceeded);
    handler_.texts->TextsDone(status);
    call_.exchange.Resumed();
    EXPECT_EQ(handler_.count(), 0u);
    call_.exchange.Clear();
  }
}

TEST_F(InferExchangeTest, ACopyFromADeviceThatFailsIsTheAnswer) {
  RegisterDevice();
  call_.regions = {Input("gpu")};
  Serve(&call_);
  copier_.fault = absl::UnavailableError("the device is gone");
  copier_.RunTasks();
  call_.TakeNotes();
  call_.exchange.Resumed();
  EXPECT_THAT(call_.TakeNotes(), ElementsAre("send error UNAVAILABLE: the device is gone"));
  EXPECT_EQ(handler_.count(), 0u);
}

TEST_F(InferExchangeTest, ACopierThatTakesNoTaskIsTheAnswer) {
  RegisterDevice();
  call_.regions = {Input("gpu")};
  copier_.refusal = absl::ResourceExhaustedError("too many copies");
  Serve(&call_);
  EXPECT_THAT(call_.TakeNotes(),
              ElementsAre("read", "may use m", "send error RESOURCE_EXHAUSTED: too many copies"));
}

TEST_F(InferExchangeTest, ARequestThatIsLateAtTheDeviceIsNotCopied) {
  RegisterDevice();
  call_.regions = {Input("gpu")};
  Serve(&call_);
  clock_.Advance(kTimeoutNs);
  copier_.fault = absl::UnavailableError("it was copied");
  copier_.RunTasks();
  handler_.refusal = absl::DeadlineExceededError("Request timeout expired");
  call_.TakeNotes();
  call_.exchange.Resumed();
  EXPECT_THAT(
      call_.TakeNotes(),
      ElementsAre("send error DEADLINE_EXCEEDED: Request timeout expired", "drop payloads"));
}

TEST_F(InferExchangeTest, AClientThatLeavesDuringTheCopyIsNotAdmitted) {
  RegisterDevice();
  call_.regions = {Input("gpu")};
  Serve(&call_);
  call_.exchange.ClientLeft();
  copier_.RunTasks();
  call_.TakeNotes();
  call_.exchange.Resumed();
  EXPECT_THAT(call_.TakeNotes(), ElementsAre("send error CANCELLED: Request was cancelled"));
  EXPECT_EQ(handler_.count(), 0u);
}

TEST_F(InferExchangeTest, AnAnswerIsSentWhenItsOutputsAreOnTheDevice) {
  RegisterDevice();
  call_.regions = {Output("gpu")};
  Serve(&call_);
  call_.TakeNotes();
  handler_.last()->reply.Send(FakeAnswer({0, 0}));
  EXPECT_THAT(call_.TakeNotes(), ElementsAre("write last"));
  EXPECT_EQ(CountOf("m", kOk), 0u);
  copier_.RunTasks();
  EXPECT_THAT(call_.TakeNotes(), ElementsAre("send last"));
  EXPECT_EQ(copier_.memories['a'], std::string(8, '\0'));
  EXPECT_EQ(call_.written[0], "") << "the bytes lie in the region";
  EXPECT_EQ(CountOf("m", kOk), 1u);
}

TEST_F(InferExchangeTest, OutputsThatCannotBeStoredAreTheRequestsFailure) {
  RegisterDevice();
  call_.regions = {Output("gpu")};
  Serve(&call_);
  call_.TakeNotes();
  handler_.last()->reply.Send(FakeAnswer({0, 0}));
  copier_.fault = absl::UnavailableError("the device is gone");
  copier_.RunTasks();
  EXPECT_THAT(call_.TakeNotes(),
              ElementsAre("write last", "send error UNAVAILABLE: the device is gone"));
  call_.exchange.Clear();

  copier_.fault = absl::OkStatus();
  Serve(&call_);
  call_.TakeNotes();
  copier_.refusal = absl::UnavailableError("Server exiting");
  handler_.last()->reply.Send(FakeAnswer({0, 0}));
  EXPECT_THAT(call_.TakeNotes(),
              ElementsAre("write last", "send error UNAVAILABLE: Server exiting"));
  EXPECT_EQ(CountOf("m", kOk), 0u);
  call_.exchange.Clear();
  EXPECT_EQ(regions_.copies()->taken_bytes(), 0u);
}

TEST_F(InferExchangeTest, TakesNoMemoryOnceWarm) {
  call_.takes_notes = false;
  struct Handler final : InferHandler {
    Handled Handle(const InferMessage&, Request* request) override {
      request->model = model;
      request->metrics = &model->metrics;
      request->queue = &queue;
      request->reply.Send(answer);
      return Handled::kCopied;
    }
    void EncodeTexts(const InferMessage&, Request*, TextWaiter*) override {}
    std::shared_ptr<ServedModel> model = std::make_shared<ServedModel>();
    FakeRequestQueue queue;
    Answer answer;
  } handler;
  ExchangeContext context = context_;
  context.handler = &handler;
  FakeTransport call(&context);
  call.takes_notes = false;
  int allocations = 0;
  for (int i = 0; i < 3; ++i) {
    allocations = 0;
    const HeapCount count(&allocations);
    Serve(&call);
    call.exchange.Clear();
  }
  EXPECT_EQ(allocations, 0);
  EXPECT_EQ(handler.model->metrics.requests_by_code[kOk], 3u);
}

// A request that may have several answers.
class SeveralAnswersTest : public InferExchangeTest {
 protected:
  SeveralAnswersTest() {
    many_.model = "many";
    many_.connection = connection_;
  }

  std::vector<AnswerStatistics::Index> Answers() {
    return handler_.Model("many")->metrics.answers.Read();
  }

  FakeTransport many_{&context_, InferExchange::Answers::kMany};
};

TEST_F(SeveralAnswersTest, OnlySuchATransportSaysThatItTakesThem) {
  Serve(&many_);
  EXPECT_TRUE(many_.exchange.message().takes_many);
  handler_.last()->reply.Send(FakeAnswer({1}));
  many_.exchange.Clear();
  Serve(&call_);
  EXPECT_FALSE(call_.exchange.message().takes_many);
  handler_.last()->reply.Send(FakeAnswer({1}));
}

TEST_F(SeveralAnswersTest, EachIsSentAndTheNextIsAskedFor) {
  Serve(&many_);
  many_.TakeNotes();
  for (int i = 0; i < 2; ++i) {
    handler_.SendPart(handler_.last(), {1});
    EXPECT_THAT(many_.TakeNotes(), ElementsAre("write part", "send part"));
    EXPECT_EQ(handler_.queue.continued, i) << "it is not written yet";
    many_.exchange.Continue();
    EXPECT_EQ(handler_.queue.continued, i + 1);
  }
  EXPECT_EQ(CountOf("many", kOk), 0u);
  handler_.last()->reply.End();
  EXPECT_THAT(many_.TakeNotes(), ElementsAre("send no more"));
  EXPECT_EQ(CountOf("many", kOk), 1u);
  ASSERT_EQ(Answers().size(), 3u);
  EXPECT_EQ(Answers()[0].sent.count, 1u);
  EXPECT_EQ(Answers()[1].sent.count, 1u);
  EXPECT_EQ(Answers()[2].no_more.count, 1u);
}

TEST_F(SeveralAnswersTest, OneWithoutItsFormEndsTheRequestWithWhatWasWrong) {
  many_.classes = {{"y", 1}};
  Serve(&many_);
  many_.TakeNotes();
  Request* const request = handler_.last();
  request->state = RequestState::kAnswering;
  Answer answer = FakeAnswer({1});
  answer.outputs[0].datatype = DataType::kBytes;
  request->reply.SendPart(answer);
  EXPECT_EQ(handler_.queue.cancelled, 1);
  EXPECT_EQ(handler_.queue.continued, 1);
  EXPECT_THAT(many_.TakeNotes(), ElementsAre(HasSubstr("send error INVALID_ARGUMENT")));
  EXPECT_EQ(Answers()[0].failed.count, 1u);
  EXPECT_EQ(CountOf("many", kCancelled), 0u);
}

TEST_F(SeveralAnswersTest, OneThatCannotBeWrittenEndsTheRequest) {
  Serve(&many_);
  many_.TakeNotes();
  many_.write_status = absl::ResourceExhaustedError("too much is unread");
  handler_.SendPart(handler_.last(), {1});
  EXPECT_THAT(many_.TakeNotes(),
              ElementsAre("write part", "send error RESOURCE_EXHAUSTED: too much is unread"));
}

TEST_F(SeveralAnswersTest, TheNextRequestOfItsExchangeHasItsOwnEnding) {
  Serve(&many_);
  many_.write_status = absl::ResourceExhaustedError("too much is unread");
  handler_.SendPart(handler_.last(), {1});
  many_.exchange.Clear();
  many_.write_status = absl::OkStatus();
  Serve(&many_);
  many_.TakeNotes();
  handler_.last()->reply.Fail(absl::InternalError("it broke"));
  EXPECT_THAT(many_.TakeNotes(), ElementsAre("send error INTERNAL: it broke"));
}

TEST_F(SeveralAnswersTest, TheNextRequestOfItsExchangeHasItsOwnTimes) {
  for (int i = 0; i < 2; ++i) {
    Serve(&many_);
    handler_.last()->sums.infer_ns = 100;
    handler_.last()->reply.End();
    many_.exchange.Clear();
  }
  EXPECT_EQ(Answers()[0].compute_infer.ns, 200u);
}

TEST_F(SeveralAnswersTest, OneForADeviceIsSentWhenItIsThere) {
  RegisterDevice();
  many_.regions = {Output("gpu")};
  Serve(&many_);
  many_.TakeNotes();
  handler_.SendPart(handler_.last(), {0, 0});
  EXPECT_THAT(many_.TakeNotes(), ElementsAre("write part"));
  copier_.RunTasks();
  EXPECT_THAT(many_.TakeNotes(), ElementsAre("send part"));
  many_.exchange.Continue();
  copier_.fault = absl::UnavailableError("the device is gone");
  handler_.SendPart(handler_.last(), {0, 0});
  copier_.RunTasks();
  EXPECT_THAT(many_.TakeNotes(),
              ElementsAre("write part", "send error UNAVAILABLE: the device is gone"));
}

TEST_F(SeveralAnswersTest, ATransportThatCanSendNoMoreStopsThem) {
  Serve(&many_);
  handler_.SendPart(handler_.last(), {1});
  many_.TakeNotes();
  many_.exchange.StopAnswers();
  EXPECT_THAT(many_.TakeNotes(), ElementsAre("send error CANCELLED: cancelled"));
  EXPECT_EQ(Answers()[1].cancelled.count, 1u);
}

TEST_F(SeveralAnswersTest, TheNextRequestIsCountedAnew) {
  for (int i = 0; i < 2; ++i) {
    Serve(&many_);
    handler_.SendPart(handler_.last(), {1});
    many_.exchange.Continue();
    handler_.last()->reply.End();
    many_.exchange.Clear();
  }
  ASSERT_EQ(Answers().size(), 2u);
  EXPECT_EQ(Answers()[0].sent.count, 2u);
}

// Regions have a thread.
class InferExchangeDeathTest : public InferExchangeTest {
 protected:
  InferExchangeDeathTest() { testing::GTEST_FLAG(death_test_style) = "threadsafe"; }
};

TEST_F(InferExchangeDeathTest, ARequestBeginsOnce) {
  Begin(&call_);
  EXPECT_DEATH(Begin(&call_), "check failed");
  call_.exchange.Admit(absl::InternalError("over"));
}

TEST_F(InferExchangeDeathTest, ARequestEndsOnce) {
  Begin(&call_);
  EXPECT_DEATH(
      {
        call_.exchange.Fail(absl::InternalError("beside its reply"));
        call_.exchange.Admit(absl::InternalError("over"));
      },
      "check failed");
  call_.exchange.Admit(absl::InternalError("over"));
}

TEST_F(InferExchangeDeathTest, ARequestEndsBeforeItIsCleared) {
  Begin(&call_);
  EXPECT_DEATH(call_.exchange.Clear(), "check failed");
  call_.exchange.Admit(absl::InternalError("over"));
}

TEST_F(InferExchangeDeathTest, OtherThreadsOnlyAnswer) {
  Serve(&call_);
  EXPECT_DEATH(
      {
        std::thread([this] { thread_.Bind(); }).join();
        call_.exchange.ClientLeft();
      },
      "check failed");
  handler_.last()->reply.Send(FakeAnswer({1}));
}

}  // namespace
}  // namespace mpsd
