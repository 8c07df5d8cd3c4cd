#include "server/compose/steps/graph_members.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace mpsd {
namespace {

ModelSpec EchoSpec() {
  ModelSpec spec;
  spec.inputs = {{"x", DataType::kFp32, {2}}};
  spec.outputs = {{"y", DataType::kFp32, {2}}};
  return spec;
}

std::shared_ptr<ServedModel> Echo(const char* name) {
  auto model = std::make_shared<ServedModel>();
  model->name = name;
  model->spec = EchoSpec();
  model->loaded = model->ready = true;
  return model;
}

class GraphMembersTest : public testing::Test {
 protected:
  GraphMembersTest() {
    models_.Publish(a_);
    models_.Publish(b_);
  }

  std::string Fault(MemberNeed need) const { return members_.Check(need).ToString(); }

  static StepGraph Graph() {
    std::vector<StepFault> faults;
    return StepGraph::Of("whole", EchoSpec(),
                         std::vector<ModelStep>{{"a", "", {{"x", "x"}}, {{"y", "t"}}},
                                                {"b", "", {{"x", "t"}}, {{"y", "y"}}}},
                         &faults);
  }

  ModelDirectory models_;
  const std::shared_ptr<ServedModel> whole_ = Echo("whole");
  const std::shared_ptr<ServedModel> a_ = Echo("a");
  const std::shared_ptr<ServedModel> b_ = Echo("b");
  const StepGraph graph_ = Graph();
  const GraphMembers members_{whole_.get(), &graph_, &models_};
};

TEST_F(GraphMembersTest, AllAreThere) {
  EXPECT_EQ(Fault(MemberNeed::kLoaded), "OK");
  EXPECT_EQ(Fault(MemberNeed::kReady), "OK");
}

TEST_F(GraphMembersTest, OneIsUnknown) {
  models_.Withdraw(*b_);
  EXPECT_EQ(Fault(MemberNeed::kLoaded),
            "NOT_FOUND: in ensemble 'whole', steps[1] (model 'b'): Request for unknown model: 'b' "
            "is not found");
}

TEST_F(GraphMembersTest, OneIsNotLoaded) {
  b_->loaded = b_->ready = false;
  EXPECT_EQ(Fault(MemberNeed::kLoaded),
            "UNAVAILABLE: in ensemble 'whole', steps[1] (model 'b'): Request for model 'b' is not "
            "at ready state");
}

TEST_F(GraphMembersTest, OneHasLostItsWorkersAndKeepsItsQueue) {
  a_->ready = false;
  EXPECT_EQ(Fault(MemberNeed::kLoaded), "OK");
  EXPECT_EQ(Fault(MemberNeed::kReady),
            "UNAVAILABLE: in ensemble 'whole', steps[0] (model 'a'): Request for model 'a' is not "
            "at ready state");
}

TEST_F(GraphMembersTest, OneDoesNotFit) {
  b_->spec.inputs[0].datatype = DataType::kInt32;
  EXPECT_EQ(Fault(MemberNeed::kLoaded),
            "UNAVAILABLE: in ensemble 'whole', steps[1].inputs.x: 't' is made as FP32 and read as "
            "INT32");
}

TEST_F(GraphMembersTest, OneHasStepsItself) {
  b_->members = std::make_unique<GraphMembers>(b_.get(), &graph_, &models_);
  EXPECT_EQ(Fault(MemberNeed::kLoaded),
            "UNAVAILABLE: in ensemble 'whole', steps[1] (model 'b'): a model that has steps itself "
            "cannot be one");
}

TEST_F(GraphMembersTest, TheWholeAndTheDaemonAreReadyWithThem) {
  whole_->members = std::make_unique<GraphMembers>(whole_.get(), &graph_, &models_);
  models_.Publish(whole_);
  models_.stage = ServingStage::kServing;
  EXPECT_TRUE(whole_->IsReady());
  EXPECT_TRUE(models_.IsReady());
  a_->ready = false;
  EXPECT_FALSE(whole_->IsReady());
  EXPECT_FALSE(models_.IsReady());
  models_.strict = false;
  EXPECT_TRUE(models_.IsReady()) << "b is ready";
}

}  // namespace
}  // namespace mpsd
