#include "server/control/model_methods.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "proto/inference.pb.h"

namespace mpsd {
namespace {

using Group = inference::ModelInstanceGroup;

class ModelConfigTest : public testing::Test {
 protected:
  ModelConfigTest() {
    AddModelConfigMethod(&models_, &table_);
    model_->name = "m";
    model_->spec.inputs = {{"x", DataType::kFp32, {2}}};
    model_->facts.lanes = 4;
    model_->loaded = true;
    models_.Publish(model_);
  }

  // The instance groups of a model whose processes are on these devices.
  std::vector<Group> GroupsOn(const std::vector<std::string>& devices) {
    model_->facts.devices = devices;
    inference::ModelConfigRequest request;
    request.set_name("m");
    std::string bytes;
    const absl::Status status = table_.Find("/inference.GRPCInferenceService/ModelConfig")
                                    ->unary({}, request.SerializeAsString(), &bytes);
    EXPECT_TRUE(status.ok()) << status;
    inference::ModelConfigResponse response;
    EXPECT_TRUE(response.ParseFromString(bytes));
    return {response.config().instance_group().begin(), response.config().instance_group().end()};
  }

  static std::vector<int32_t> GpusOf(const Group& group) {
    return {group.gpus().begin(), group.gpus().end()};
  }

  ModelDirectory models_;
  MethodTable table_;
  const std::shared_ptr<ServedModel> model_ = std::make_shared<ServedModel>();
};

TEST_F(ModelConfigTest, AllLanesOfADeviceAreOneGroup) {
  for (const char* device : {"cpu", "mps"}) {
    const std::vector<Group> groups = GroupsOn({device, device});
    ASSERT_EQ(groups.size(), 1u);
    EXPECT_EQ(groups[0].name(), "m_0");
    EXPECT_EQ(groups[0].kind(), Group::KIND_CPU);
    EXPECT_EQ(groups[0].count(), 8);
    EXPECT_EQ(groups[0].gpus_size(), 0);
  }
  EXPECT_EQ(GpusOf(GroupsOn({"cuda:1"}).at(0)), std::vector<int32_t>{1});
  EXPECT_EQ(GpusOf(GroupsOn({"cuda"}).at(0)), std::vector<int32_t>{0});
}

TEST_F(ModelConfigTest, EachGroupSaysWhatItsLanesNeed) {
  EXPECT_FALSE(GroupsOn({"cpu"}).at(0).has_rate_limiter());
  model_->facts.lane_needs = {.resources = {{"R1", 2, true}}, .priority = 3};
  for (const Group& group : GroupsOn({"cuda:0", "cuda:1", "cuda:0"})) {
    EXPECT_EQ(group.rate_limiter().priority(), 3u);
    ASSERT_EQ(group.rate_limiter().resources_size(), 1);
    EXPECT_EQ(group.rate_limiter().resources(0).name(), "R1");
    EXPECT_EQ(group.rate_limiter().resources(0).count(), 2u);
    EXPECT_TRUE(group.rate_limiter().resources(0).global());
  }
}

TEST_F(ModelConfigTest, SeveralDevicesAreOneGroupWithTheCountOfEach) {
  const std::vector<Group> groups = GroupsOn({"cuda:0", "cuda:2", "cuda:0", "cuda:2"});
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].kind(), Group::KIND_GPU);
  EXPECT_EQ(groups[0].count(), 8);
  EXPECT_EQ(GpusOf(groups[0]), (std::vector<int32_t>{0, 2}));
}

TEST_F(ModelConfigTest, DevicesWithAProcessMoreAreAGroupOfTheirOwn) {
  const std::vector<Group> groups = GroupsOn({"cuda:0", "cuda:1", "cuda:2", "cuda:0"});
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].name(), "m_0");
  EXPECT_EQ(groups[0].count(), 8);
  EXPECT_EQ(GpusOf(groups[0]), std::vector<int32_t>{0});
  EXPECT_EQ(groups[1].name(), "m_1");
  EXPECT_EQ(groups[1].count(), 4);
  EXPECT_EQ(GpusOf(groups[1]), (std::vector<int32_t>{1, 2}));
}

}  // namespace
}  // namespace mpsd
