#include "server/models/step_factory.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "tests/fakes/fake_clock.h"

namespace mpsd {
namespace {

class StepFactoryTest : public testing::Test {
 protected:
  StepFactoryTest() {
    config_.name = "m";
    config_.spec.inputs = {{"x", DataType::kFp32, {2}}};
    config_.spec.outputs = {{"y", DataType::kFp32, {2}}};
    config_.steps = {{"a", "", {{"x", "x"}}, {{"y", "y"}}}};
    member_->name = "a";
    member_->spec = config_.spec;
    made_ = MakeStepModel(config_, std::make_shared<ModelMetrics>(), &context_);
  }

  absl::Status Wait() {
    return WaitForMembers(
        *made_, models_, [this](const ServedModel&) { return fault_; },
        [this] {
          if (comes_when_asked_) member_->ready = member_->loaded = true;
          return !std::exchange(comes_when_asked_, false);
        });
  }

  ModelDirectory models_;
  FakeClock clock_;
  ServerMetrics metrics_;
  StepContext context_{nullptr, &models_, &metrics_, &clock_, 10};
  ModelConfig config_;
  const std::shared_ptr<ServedModel> member_ = std::make_shared<ServedModel>();
  std::shared_ptr<ServedModel> made_;
  absl::Status fault_;
  bool comes_when_asked_ = false;
};

TEST_F(StepFactoryTest, WhatClientsAndOperatorsAreTold) {
  EXPECT_EQ(made_->platform, "ensemble");
  EXPECT_TRUE(made_->facts.devices.empty()) << "it takes no descriptors";
  EXPECT_EQ(made_->facts.steps, config_.steps);
  EXPECT_TRUE(made_->loaded) << "its metadata is known before its members are";
  EXPECT_FALSE(made_->IsReady());
}

TEST_F(StepFactoryTest, AMemberThatIsNotServedIsAFault) {
  const absl::Status status = Wait();
  EXPECT_TRUE(absl::IsNotFound(status)) << status;
}

TEST_F(StepFactoryTest, AMemberThatIsReadyEndsTheWait) {
  models_.Publish(member_);
  member_->ready = member_->loaded = true;
  EXPECT_EQ(Wait(), absl::OkStatus());
}

TEST_F(StepFactoryTest, AMemberThatIsStartingIsWaitedFor) {
  models_.Publish(member_);
  comes_when_asked_ = true;
  EXPECT_EQ(Wait(), absl::OkStatus());
}

TEST_F(StepFactoryTest, TheWaitIsGivenUp) {
  models_.Publish(member_);
  EXPECT_TRUE(absl::IsCancelled(Wait()));
}

TEST_F(StepFactoryTest, AMemberThatCannotServeIsAFault) {
  models_.Publish(member_);
  fault_ = absl::FailedPreconditionError("no file");
  EXPECT_EQ(Wait(),
            absl::FailedPreconditionError("in ensemble 'm', steps[0] (model 'a'): no file"));
}

TEST_F(StepFactoryTest, AMemberThatDoesNotFitIsAFault) {
  models_.Publish(member_);
  member_->spec.inputs[0].datatype = DataType::kInt8;
  member_->ready = member_->loaded = true;
  EXPECT_TRUE(absl::IsUnavailable(Wait()));
}

}  // namespace
}  // namespace mpsd
