#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "worker/model/model.h"

namespace mpsd {
namespace {

using testing::HasSubstr;

std::string LoadError(const std::string& format) {
  LoadOrder order;
  order.model = "m";
  order.format = format;
  order.path = "/nowhere/m.pt";
  const absl::StatusOr<std::unique_ptr<Model>> model = LoadModel(order);
  return model.ok() ? "it loaded" : std::string(model.status().message());
}

TEST(LoadModel, NamesTheFormatsThatThereAre) {
  EXPECT_THAT(LoadError("onnx"), HasSubstr("'onnx'; there are torchscript, aoti, synthetic"));
}

TEST(LoadModel, LoadsSyntheticModels) {
  LoadOrder order;
  order.format = "synthetic";
  order.spec.inputs = {{"INPUT0", DataType::kFp32, {1}}};
  EXPECT_TRUE(LoadModel(order).ok());
}

#ifdef MPSD_WITH_TORCH
TEST(LoadModel, SaysThatThereIsNoSuchFile) {
  EXPECT_THAT(LoadError("torchscript"), HasSubstr("there is no file /nowhere/m.pt"));
  EXPECT_THAT(LoadError("aoti"), HasSubstr("there is no file /nowhere/m.pt"));
}
#else
TEST(LoadModel, SaysThatItWasBuiltWithoutLibtorch) {
  EXPECT_THAT(LoadError("torchscript"), HasSubstr("this mpsd-worker was built without libtorch"));
  EXPECT_THAT(LoadError("aoti"), HasSubstr("this mpsd-worker was built without libtorch"));
}
#endif

}  // namespace
}  // namespace mpsd
