#include "worker/load/load_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/fakes/fake_model.h"

namespace mpsd {
namespace {

using testing::HasSubstr;

std::string LoadError(ModelFormat format) {
  LoadOrder order;
  order.model = "m";
  order.format = format;
  order.path = "/nowhere/m.pt";
  const absl::StatusOr<std::unique_ptr<Model>> model = LoadModel(order);
  return model.ok() ? "it loaded" : std::string(model.status().message());
}

TEST(LoadModel, LoadsSyntheticModels) {
  LoadOrder order;
  order.format = ModelFormat::kSynthetic;
  order.spec.inputs = {{"INPUT0", DataType::kFp32, {1}}};
  EXPECT_TRUE(LoadModel(order).ok());
}

TEST(LoadModel, ASyntheticModelHasNoPrecision) {
  LoadOrder order;
  order.format = ModelFormat::kSynthetic;
  order.spec.inputs = {{"INPUT0", DataType::kFp32, {1}}};
  order.precision = Precision::kBf16;
  EXPECT_EQ(LoadModel(order).status(),
            absl::InvalidArgumentError("a synthetic model computes nothing, so not in 'bf16'"));
  order.precision = Precision::kAuto;
  const absl::StatusOr<std::unique_ptr<Model>> model = LoadModel(order);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ((*model)->traits().precision, Precision::kAsSaved);
  EXPECT_EQ((*model)->traits().precision_note,
            "a synthetic model computes nothing, so not in 'fp32'");
}

TEST(LoadModel, APackageAndAMirrorAreNotDecoupled) {
  LoadOrder order;
  order.model = "m";
  order.spec.decoupled = true;
  const auto error = [&order](ModelFormat format) {
    order.format = format;
    const absl::StatusOr<std::unique_ptr<Model>> model = LoadModel(order);
    return model.ok() ? "it loaded" : std::string(model.status().message());
  };
  EXPECT_THAT(error(ModelFormat::kAoti), HasSubstr("model 'm' cannot be decoupled"));
  EXPECT_THAT(error(ModelFormat::kSynthetic),
              HasSubstr("it cannot be decoupled unless its parameter"));
  order.parameters = {{"repeat", "true"}};
  EXPECT_EQ(error(ModelFormat::kSynthetic), "it loaded");
}

TEST(BearableLanes, AreAtMostThoseOfTheModelWhichSaysWhy) {
  const FakeModel model(ModelSpec(), EchoInputs, {.lanes_max = 2, .lanes_reason = "one stream"});
  std::string why;
  EXPECT_EQ(BearableLanes(model, 2, &why), 2u);
  EXPECT_EQ(why, "");
  EXPECT_EQ(BearableLanes(model, 4, &why), 2u);
  EXPECT_EQ(why, "one stream");
}

#ifdef MPSD_WITH_TORCH
TEST(LoadModel, SaysThatThereIsNoSuchFile) {
  EXPECT_THAT(LoadError(ModelFormat::kTorchScript), HasSubstr("there is no file '/nowhere/m.pt'"));
  EXPECT_THAT(LoadError(ModelFormat::kAoti), HasSubstr("there is no file '/nowhere/m.pt'"));
}
#else
TEST(LoadModel, SaysThatItWasBuiltWithoutLibtorch) {
  EXPECT_THAT(LoadError(ModelFormat::kTorchScript),
              HasSubstr("this mpsd-worker was built without libtorch"));
  EXPECT_THAT(LoadError(ModelFormat::kAoti),
              HasSubstr("this mpsd-worker was built without libtorch"));
}
#endif

}  // namespace
}  // namespace mpsd
