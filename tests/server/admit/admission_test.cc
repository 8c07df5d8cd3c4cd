#include "server/admit/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "proto/base/limits.h"
#include "server/request/retry_info.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/recording_reply_sink.h"
#include "tests/server/admit/message_builder.h"

namespace mpsd {
namespace {

// A queue that gives memory of its own, or refuses.
class FakeQueue final : public RequestQueue {
 public:
  absl::Status Reserve(Request* request, RowTargets* targets) override {
    if (!refusal.ok()) return refusal;
    if (has_no_room) {
      targets->later = true;
      return absl::OkStatus();
    }
    uint64_t bytes = 0;
    for (const RequestInput& input : request->inputs) bytes += input.row_bytes * request->rows;
    memory.assign(bytes, '?');
    bytes = 0;
    for (const RequestInput& input : request->inputs) {
      targets->inputs.push_back(memory.data() + bytes);
      bytes += input.row_bytes * request->rows;
    }
    return absl::OkStatus();
  }
  void Commit(Request* request) override {
    ++commits;
    request->reply.Fail(absl::OkStatus());
  }
  void Continue(Request*) override {}
  void Cancel(Request*) override {}
  void Close() override {}
  std::vector<RefusedContent> RefusedContents() override { return {}; }
  size_t ForgiveContents() override { return 0; }

  absl::Status refusal;
  bool has_no_room = false;
  std::string memory;
  int commits = 0;
};

class AdmissionTest : public testing::Test {
 protected:
  AdmissionTest() {
    model_->name = "m";
    model_->spec.max_batch_size = 4;
    model_->spec.inputs = {{"A", DataType::kUint8, {-1}}, {"B", DataType::kUint8, {2}}};
    model_->spec.pad = {{"A", 0, {4}, 7, {}}};
    model_->loaded = true;
    models_.Publish(model_);
    models_.stage = ServingStage::kServing;
    message_.Raw("A", "UINT8", {2, 3}, 6).Raw("B", "UINT8", {2, 2}, 4);
  }

  // How a request of this message ended.
  absl::Status Handle(int64_t timeout_ns = kNsPerSecond, int64_t patience_ns = 0) {
    RecordingReplySink sink;
    request_.Reset();
    request_.reply = Reply(&sink);
    request_.arrival_ns = clock_.NowNs();
    request_.deadline_ns = clock_.NowNs() + timeout_ns;
    request_.patience_ns = patience_ns;
    copied_ = admission_.Handle(*message_, &request_);
    if (request_.reply.owed()) request_.reply.Fail(absl::OkStatus());
    EXPECT_EQ(sink.endings(), 1);
    return sink.status();
  }

  FakeClock clock_;
  ModelDirectory models_;
  std::shared_ptr<ServedModel> model_ = std::make_shared<ServedModel>();
  FakeQueue& queue_ = static_cast<FakeQueue&>(*(model_->queue = std::make_unique<FakeQueue>()));
  bool copied_ = false;
  MessageBuilder message_;
  Request request_;
  Admission admission_{&models_, &clock_};
};

TEST_F(AdmissionTest, CopiesThePayloadIntoTheReservedRowsAndCommits) {
  EXPECT_TRUE(Handle().ok());
  EXPECT_EQ(queue_.commits, 1);
  EXPECT_EQ(queue_.memory, "xxx\7xxx\7xxxx");
  EXPECT_EQ(request_.metrics, &model_->metrics);
}

// A queue that another generation takes over from while a request looks for it.
class ClosedQueue final : public RequestQueue {
 public:
  explicit ClosedQueue(std::function<void()> on_reserve) : on_reserve_(std::move(on_reserve)) {}
  absl::Status Reserve(Request*, RowTargets*) override {
    on_reserve_();
    return absl::AbortedError("the model was replaced");
  }
  void Commit(Request*) override {}
  void Continue(Request*) override {}
  void Cancel(Request*) override {}
  void Close() override {}
  std::vector<RefusedContent> RefusedContents() override { return {}; }
  size_t ForgiveContents() override { return 0; }

 private:
  std::function<void()> on_reserve_;
};

TEST_F(AdmissionTest, LooksAgainWhenTheModelWasReplaced) {
  auto old = std::make_shared<ServedModel>();
  old->name = "m";
  old->spec = model_->spec;
  old->loaded = true;
  old->queue = std::make_unique<ClosedQueue>([this] { models_.Publish(model_); });
  models_.Publish(old);
  EXPECT_TRUE(Handle().ok());
  EXPECT_EQ(queue_.commits, 1);
  EXPECT_EQ(queue_.memory, "xxx\7xxx\7xxxx");
  EXPECT_EQ(request_.model, model_);
}

TEST_F(AdmissionTest, AModelThatIsReplacedWithoutEndIsUnavailable) {
  model_->queue = std::make_unique<ClosedQueue>([] {});
  EXPECT_EQ(Handle(), absl::UnavailableError("the model was replaced"));
}

TEST_F(AdmissionTest, ADecoupledModelTakesStreamsAlone) {
  model_->spec.decoupled = true;
  EXPECT_EQ(Handle(),
            absl::UnimplementedError(
                "ModelInfer RPC doesn't support models with decoupled transaction policy"));
  EXPECT_EQ(queue_.commits, 0);
  message_->takes_many = true;
  EXPECT_TRUE(Handle().ok());
  EXPECT_EQ(queue_.commits, 1);
}

TEST_F(AdmissionTest, UnknownModel) {
  message_->model = "nope";
  EXPECT_EQ(Handle(), absl::NotFoundError("Request for unknown model: 'nope' is not found"));
}

TEST_F(AdmissionTest, UnknownVersion) {
  message_->version = "99";
  EXPECT_EQ(Handle(),
            absl::NotFoundError("Request for unknown model: 'm' version 99 is not found"));
}

TEST_F(AdmissionTest, BadVersion) {
  message_->version = "abc";
  EXPECT_EQ(Handle(), absl::InvalidArgumentError(
                          "failed to get model version from specified version string 'abc'"));
}

TEST_F(AdmissionTest, UnknownModelsCarryNoId) {
  message_.Id("17");
  message_->model = "nope";
  EXPECT_EQ(Handle(), absl::NotFoundError("Request for unknown model: 'nope' is not found"));
  message_->model = "m";
  message_->version = "99";
  EXPECT_EQ(Handle(),
            absl::NotFoundError("Request for unknown model: 'm' version 99 is not found"));
}

// Whoever lent the payload may take it back only then.
TEST_F(AdmissionTest, SaysWhetherThePayloadIsStillLookedAt) {
  EXPECT_TRUE(Handle().ok());
  EXPECT_TRUE(copied_);
  queue_.has_no_room = true;
  EXPECT_TRUE(Handle().ok());
  EXPECT_FALSE(copied_);
  EXPECT_EQ(queue_.commits, 1);
  message_->model = "nope";
  EXPECT_FALSE(Handle().ok());
  EXPECT_TRUE(copied_);
}

TEST_F(AdmissionTest, ModelThatIsNotReady) {
  model_->loaded = false;
  EXPECT_EQ(Handle(), absl::UnavailableError("Request for model 'm' is not at ready state"));
}

TEST_F(AdmissionTest, AModelThatLostItsWorkersKeepsItsQueue) {
  model_->ready = false;
  EXPECT_TRUE(Handle().ok());
}

TEST_F(AdmissionTest, Starting) {
  models_.stage = ServingStage::kStarting;
  EXPECT_EQ(Handle(), absl::UnavailableError("Server not ready"));
}

TEST_F(AdmissionTest, StoppingAdmitsUntilTheLameDuckTimeIsOver) {
  models_.stage = ServingStage::kLameDuck;
  EXPECT_TRUE(Handle().ok());
}

TEST_F(AdmissionTest, Stopping) {
  models_.stage = ServingStage::kExiting;
  EXPECT_EQ(Handle(), absl::UnavailableError("Server exiting"));
}

TEST_F(AdmissionTest, ExpiredOnArrivalIsRefusedUnvalidated) {
  message_->inputs[0].datatype = "nonsense";
  message_.Id("17");
  EXPECT_EQ(Handle(0), absl::DeadlineExceededError("Request timeout expired"));
}

TEST_F(AdmissionTest, ErrorsOfValidationCarryTheIdOnce) {
  message_.Id("17");
  message_->inputs[1].datatype = "INT8";
  EXPECT_EQ(Handle(),
            absl::InvalidArgumentError("[request id: 17] inference input 'B' data-type is "
                                       "'INT8', but model 'm' expects 'UINT8'"));
}

TEST_F(AdmissionTest, BeyondTheLargestBucketCarriesTheId) {
  MessageBuilder message;
  message.Raw("A", "UINT8", {1, 5}, 5).Raw("B", "UINT8", {1, 2}, 2).Id("17");
  *message_.operator->() = *message;
  EXPECT_EQ(Handle(), absl::InvalidArgumentError(
                          "[request id: 17] input 'A' is of length 5, but at most 4 is served"));
}

TEST_F(AdmissionTest, QueueFullCarriesTheIdAndWhenToTryAgain) {
  queue_.refusal = Busy("Exceeds maximum queue size");
  EXPECT_EQ(Handle(), Busy("Exceeds maximum queue size"));
  message_.Id("17");
  EXPECT_EQ(Handle(), Busy("[request id: 17] Exceeds maximum queue size"));
  EXPECT_EQ(queue_.commits, 0);
}

TEST_F(AdmissionTest, TheTimeoutParameterShortensTheDeadline) {
  message_->timeout_us = 1000;
  EXPECT_TRUE(Handle(kNsPerSecond, /*patience_ns=*/kNsPerSecond).ok());
  EXPECT_EQ(request_.deadline_ns, clock_.NowNs() + kNsPerMs);
  EXPECT_EQ(request_.patience_ns, 0) << "it is of all answers together";
}

TEST_F(AdmissionTest, TheTimeoutParameterNeverLengthensTheDeadline) {
  for (const int64_t timeout_us : {int64_t{2'000'000}, INT64_MAX, INT64_MAX / 1000 + 1}) {
    message_->timeout_us = timeout_us;
    EXPECT_TRUE(Handle().ok());
    EXPECT_EQ(request_.deadline_ns, clock_.NowNs() + kNsPerSecond) << timeout_us;
  }
}

TEST_F(AdmissionTest, TheQueuesTimeoutIsOfTheWaitAlone) {
  model_->facts.queue_timeout_ns = kNsPerMs;
  EXPECT_TRUE(Handle().ok());
  EXPECT_EQ(request_.deadline_ns, clock_.NowNs() + kNsPerMs);
  EXPECT_EQ(request_.final_deadline_ns, clock_.NowNs() + kNsPerSecond);
  request_.ForgetModel();
  EXPECT_EQ(request_.deadline_ns, clock_.NowNs() + kNsPerSecond)
      << "another generation has its own";
  EXPECT_TRUE(Handle(kNsPerMs / 2).ok());
  EXPECT_EQ(request_.deadline_ns, clock_.NowNs() + kNsPerMs / 2);
  EXPECT_EQ(request_.final_deadline_ns, 0);
}

TEST_F(AdmissionTest, ATimeoutOfZeroOrLessIsNone) {
  for (const int64_t timeout_us : {int64_t{0}, int64_t{-1}, INT64_MIN}) {
    message_->timeout_us = timeout_us;
    EXPECT_TRUE(Handle().ok());
    EXPECT_EQ(request_.deadline_ns, clock_.NowNs() + kNsPerSecond);
  }
}

}  // namespace
}  // namespace mpsd
