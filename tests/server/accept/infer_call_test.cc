#include "server/accept/infer_call.h"

#include <gmock/gmock.h>

#include "absl/strings/str_cat.h"
#include "proto/base/limits.h"
#include "tests/server/accept/call_fixture.h"
#include "tests/server/access/rules.h"

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class InferCallTest : public CallFixture {
 protected:
  static inference::ModelInferResponse ResponseOf(const ClientCall& call) {
    inference::ModelInferResponse response;
    EXPECT_TRUE(response.ParseFromString(AllBytes(call.response)));
    return response;
  }

  // Has one call answered. The server is done with it then, which the client's end does not say.
  void InferOnce(const std::string& id) {
    const auto open_before = metrics_.open_calls.load();
    const auto call = Infer(InferBytes("m", id));
    const size_t admitted = handler_.count();
    PumpUntilAdmitted(admitted + 1);
    handler_.last()->reply.Send(FakeAnswer({1}));
    PumpUntil(call->finished);
    EXPECT_TRUE(call->status.ok()) << call->status.error_message();
    EXPECT_EQ(ResponseOf(*call).id(), id);
    Pump([&] { return metrics_.open_calls <= open_before; });
  }
};

TEST_F(InferCallTest, AnswersWithWhatTheModelGave) {
  ArmInfer();
  const auto call = Infer(InferBytes("m", "7"));
  PumpUntilAdmitted(1);
  EXPECT_EQ(metrics_.open_calls, 1);
  handler_.last()->reply.Send(FakeAnswer({1, 2}));
  PumpUntil(call->finished);
  ASSERT_TRUE(call->status.ok()) << call->status.error_message();
  const inference::ModelInferResponse response = ResponseOf(*call);
  EXPECT_EQ(response.model_name(), "m");
  EXPECT_EQ(response.model_version(), "1");
  EXPECT_EQ(response.id(), "7");
  EXPECT_EQ(response.raw_output_contents(0).size(), 2 * sizeof(float));
}

TEST_F(InferCallTest, OneObjectServesCallAfterCall) {
  ArmInfer();
  for (const char* id : {"1", "2", "3"}) InferOnce(id);
  EXPECT_EQ(live_calls_, 1);
  EXPECT_THAT(handler_.ids(), ElementsAre("1", "2", "3"));
}

TEST_F(InferCallTest, AnOpenCallKeepsNoOtherFromArriving) {
  ArmInfer();
  const auto first = Infer(InferBytes("m", "1"));
  PumpUntilAdmitted(1);
  InferOnce("2");
  handler_.requests()[0]->reply.Send(FakeAnswer({1}));
  PumpUntil(first->finished);
  EXPECT_TRUE(first->status.ok()) << first->status.error_message();
  Pump([this] { return metrics_.open_calls == 0; });
  EXPECT_EQ(infer_calls_.spare_count(), 2u);
  InferOnce("3");
  Pump([this] { return metrics_.open_calls == 0; });
  EXPECT_EQ(infer_calls_.spare_count(), 2u) << "a spare one was used";
}

TEST_F(InferCallTest, CallsBeyondTheModelsShareAreRefusedAtOnce) {
  constexpr uint32_t kFew = 12;
  OpenCalls few(kFew, &metrics_.refused_calls);
  infer_.open_infer_calls = &few;
  ArmInfer();
  std::vector<std::unique_ptr<ClientCall>> slow;
  for (uint32_t i = 0; i < kFew / 3; ++i) {
    slow.push_back(Infer(InferBytes("slow")));
    PumpUntilAdmitted(i + 1);
  }
  const auto refused = Infer(InferBytes("slow"));
  PumpUntil(refused->finished);
  EXPECT_EQ(refused->status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(refused->status.error_message(), "too many calls to this model are open");
  EXPECT_EQ(metrics_.refused_calls, 1u);
  handler_.answers_at_once = true;
  const auto other = Infer(InferBytes("other"));
  PumpUntil(other->finished);
  EXPECT_TRUE(other->status.ok()) << other->status.error_message();
  ShutDown();
}

TEST_F(InferCallTest, AnAnswerThatIsNotTakenInTimeIsCancelled) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 5);
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  grpc::GenericStub stub(grpc::CreateCustomChannel(absl::StrCat("127.0.0.1:", port_),
                                                   grpc::InsecureChannelCredentials(), arguments));
  ArmInfer();
  const auto call = NewCall();
  call->stream = stub.PrepareCall(&call->context, InferService::kMethod, queue_.get());
  call->stream->StartCall(&call->started);
  PumpUntil(call->started);
  call->stream->WriteLast(InferBytes("m"), grpc::WriteOptions(), &call->written);
  PumpUntilAdmitted(1);
  handler_.last()->reply.Send(FakeAnswer(std::vector<float>(1000, 1)));
  InferOnce("of a client that takes it");
  const int64_t deadline_ns = handler_.requests()[0]->deadline_ns;
  clock_.Advance(deadline_ns + kUntakenAnswerNs - 1 - clock_.NowNs());
  infer_calls_.CancelUntaken(clock_.NowNs());
  EXPECT_EQ(metrics_.untaken_answers, 0u);
  clock_.Advance(InferCalls::kLookEveryNs);
  infer_calls_.CancelUntaken(clock_.NowNs());
  EXPECT_EQ(metrics_.untaken_answers, 1u);
  Pump([this] { return metrics_.open_calls == 0; });
  call->context.TryCancel();
  call->stream->Finish(&call->status, &call->finished);
  PumpUntil(call->finished);
}

TEST_F(InferCallTest, AnErrorHasItsCodeAndText) {
  ArmInfer();
  handler_.refusal = absl::NotFoundError("no such model");
  const auto call = Infer(InferBytes("m"));
  PumpUntil(call->finished);
  EXPECT_EQ(call->status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(call->status.error_message(), "no such model");
  handler_.refusal = absl::OkStatus();
  InferOnce("after");
}

TEST_F(InferCallTest, ACallerThatTheGateRefusesIsNotRead) {
  ArmInfer();
  gate_.SetRules(TestRules({}));
  const auto call = Infer(InferBytes("m"));
  PumpUntil(call->finished);
  EXPECT_EQ(call->status.error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(handler_.count(), 0u);
  EXPECT_EQ(access_metrics_.unauthenticated_calls, 1u);
}

TEST_F(InferCallTest, ACallerMayUseTheModelsOfItsRulesAlone) {
  ArmInfer();
  gate_.SetRules(TestRules({TokenRule("ops", Role::kInfer, {"m"})}));
  for (const char* model : {"m", "other"}) {
    const auto call = NewCall();
    call->context.AddMetadata("authorization", "Bearer ops-secret");
    handler_.answers_at_once = true;
    Start(call.get(), InferService::kMethod, InferBytes(model));
    PumpUntil(call->finished);
    EXPECT_EQ(call->status.error_code(),
              model[0] == 'm' ? grpc::StatusCode::OK : grpc::StatusCode::PERMISSION_DENIED);
  }
  EXPECT_EQ(handler_.count(), 1u);
}

TEST_F(InferCallTest, BytesThatAreNoRequestAreRefused) {
  ArmInfer();
  const auto call = Infer(InOneSlice("\xff\xff"));
  PumpUntil(call->finished);
  EXPECT_EQ(call->status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  InferOnce("after");
}

TEST_F(InferCallTest, ACompressedMessageIsInflatedFirst) {
  ArmInfer();
  const std::string id(2000, 'x');
  const auto call = Infer(InferBytes("m", id), /*compressed=*/true);
  Pump([this] { return metrics_.open_calls == 1; });
  EXPECT_EQ(handler_.count(), 0u) << "nobody inflates yet";
  inflaters_.Start(1);
  PumpUntilAdmitted(1);
  EXPECT_THAT(handler_.ids(), ElementsAre(id));
  handler_.last()->reply.Send(FakeAnswer({1}));
  PumpUntil(call->finished);
  EXPECT_TRUE(call->status.ok()) << call->status.error_message();
}

TEST_F(InferCallTest, OneThatIsLateOnceInflatedIsNotRead) {
  ArmInfer();
  const auto call = Infer(InferBytes("m", std::string(2000, 'x')), /*compressed=*/true);
  Pump([this] { return metrics_.open_calls == 1; });
  clock_.Advance(kDefaultTimeoutNs + 1);
  inflaters_.Start(1);
  PumpUntil(call->finished);
  EXPECT_EQ(call->status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_EQ(handler_.count(), 0u);
}

TEST_F(InferCallTest, OneThatIsTooLargeOnceInflatedIsRefused) {
  ArmInfer();
  inflaters_.Start(1);
  const auto call = Infer(InferBytes("m", std::string(kMessageBytes + 1, 'x')), true);
  PumpUntil(call->finished);
  EXPECT_EQ(call->status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(handler_.count(), 0u);
}

TEST_F(InferCallTest, OneThatIsCancelledWhileItIsInflatedIsNotRead) {
  ArmInfer();
  const auto call = Infer(InferBytes("m", std::string(2000, 'x')), /*compressed=*/true);
  Pump([this] { return metrics_.open_calls == 1; });
  call->context.TryCancel();
  PumpTags(2);  // the client's, and Done
  EXPECT_EQ(metrics_.open_calls, 1) << "Inflated is still to come";
  inflaters_.Start(1);
  Pump([this] { return metrics_.open_calls == 0; });
  EXPECT_EQ(handler_.count(), 0u);
  EXPECT_EQ(metrics_.refused_by_code[static_cast<size_t>(absl::StatusCode::kCancelled)], 1u);
  InferOnce("after");
}

TEST_F(InferCallTest, OneThatIsCancelledAfterAdmissionIsCancelledInItsQueue) {
  ArmInfer();
  const auto call = Infer(InferBytes("m"));
  PumpUntilAdmitted(1);
  call->context.TryCancel();
  Pump([this] { return metrics_.open_calls == 0; });
  EXPECT_EQ(handler_.queue.cancelled, 1);
  PumpUntil(call->finished);
  EXPECT_EQ(call->status.error_code(), grpc::StatusCode::CANCELLED);
  InferOnce("after");
}

TEST_F(InferCallTest, TheEndingMayComeFromAnyThread) {
  ArmInfer();
  for (int i = 1; i <= 20; ++i) {
    const auto call = Infer(InferBytes("m"));
    PumpUntilAdmitted(static_cast<size_t>(i));
    std::thread([this] { handler_.last()->reply.Send(FakeAnswer({1})); }).join();
    PumpUntil(call->finished);
    EXPECT_TRUE(call->status.ok());
  }
}

TEST_F(InferCallTest, AnAnswerThatMayNotBeCopiedIsAnError) {
  ArmInfer();
  const auto call = Infer(InferBytes("m"));
  PumpUntilAdmitted(1);
  handler_.last()->reply.Send(FakeAnswer(std::vector<float>(kMessageBytes / 2)));
  PumpUntil(call->finished);
  EXPECT_EQ(call->status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
}

TEST_F(InferCallTest, ARegionThatTheConnectionDoesNotHaveIsRefused) {
  ArmInfer();
  const auto call = Infer(RegionBytes("nowhere"));
  PumpUntil(call->finished);
  EXPECT_EQ(call->status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(handler_.count(), 0u);
}

TEST_F(InferCallTest, InputsOnADeviceComeBackToTheQueue) {
  ArmInfer();
  RegisterDevice();
  const auto call = Infer(RegionBytes("gpu"));
  Pump([this] { return !copier_.tasks.empty(); });
  EXPECT_EQ(handler_.count(), 0u);
  std::thread([this] { copier_.RunTasks(); }).join();
  EXPECT_EQ(handler_.count(), 0u);
  PumpUntilAdmitted(1);
  handler_.last()->reply.Send(FakeAnswer({1}));
  PumpUntil(call->finished);
  EXPECT_TRUE(call->status.ok()) << call->status.error_message();
}

TEST_F(InferCallTest, OneThatIsCancelledDuringTheCopyIsNotAdmitted) {
  ArmInfer();
  RegisterDevice();
  const auto call = Infer(RegionBytes("gpu"));
  Pump([this] { return !copier_.tasks.empty(); });
  call->context.TryCancel();
  PumpTags(2);  // the client's, and Done
  copier_.RunTasks();
  Pump([this] { return metrics_.open_calls == 0; });
  EXPECT_EQ(handler_.count(), 0u);
  InferOnce("after");
}

TEST_F(InferCallTest, ADeviceThatFailsIsTheAnswer) {
  ArmInfer();
  RegisterDevice();
  copier_.fault = absl::UnavailableError("the device is gone");
  const auto call = Infer(RegionBytes("gpu"));
  Pump([this] { return !copier_.tasks.empty(); });
  copier_.RunTasks();
  PumpUntil(call->finished);
  EXPECT_EQ(call->status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(call->status.error_message(), "the device is gone");
}

TEST_F(InferCallTest, TheCallersSpanIsEchoed) {
  ArmInfer();
  handler_.answers_at_once = true;
  const std::string span = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  const auto call = NewCall();
  call->context.AddMetadata("traceparent", span);
  Start(call.get(), InferService::kMethod, InferBytes("m"));
  PumpUntil(call->finished);
  const auto& metadata = call->context.GetServerInitialMetadata();
  ASSERT_EQ(metadata.count("traceparent"), 1u);
  EXPECT_EQ(metadata.find("traceparent")->second, span);
}

TEST_F(InferCallTest, ArmedCallsGoWhenTheServerShutsDown) {
  for (int i = 0; i < 8; ++i) ArmInfer();
  EXPECT_EQ(live_calls_, 8);
  ShutDown();
  EXPECT_EQ(live_calls_, 0);
}

TEST_F(InferCallTest, AnOpenCallIsCancelledWhenTheServerShutsDown) {
  ArmInfer();
  const auto call = Infer(InferBytes("m"));
  PumpUntilAdmitted(1);
  ShutDown();
  EXPECT_TRUE(call->finished.came);
  EXPECT_FALSE(call->status.ok());
  EXPECT_EQ(handler_.queue.cancelled, 1);
}

}  // namespace
}  // namespace mpsd
