// Weights that the workers of a model share, on the cpu or on MPSD_TEST_DEVICE=cuda:0.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/worker/model/torchscript/script_rig.h"

namespace mpsd {
namespace {

using testing::HasSubstr;

class TorchScriptWeights : public ScriptRig {
 protected:
  // One of MadeModels(), whose weights freezing makes constants. In panels they would be no
  // tensors.
  std::unique_ptr<Model> Load(const std::string& name,
                              const Parameters& parameters = {{"shared_weights", "on"},
                                                              {"panels", "off"}}) {
    EXPECT_TRUE(MakeModel(name, path_).ok());
    absl::StatusOr<std::unique_ptr<Model>> model = LoadPath(ModelSpec(), parameters);
    EXPECT_TRUE(model.ok()) << model.status();
    return model.ok() ? *std::move(model) : nullptr;
  }

  static std::string Answer(Model* model) {
    const int64_t width = model->spec().inputs[0].dims[0];
    const std::vector<float> row(static_cast<size_t>(width), 0.25F);
    CollectingSink sink;
    const absl::Status status =
        Run(model, {InputOf(row, DataType::kFp32, {1, width})}, /*rows=*/1, &sink);
    return status.ok() ? std::string(sink.outputs().at(0).bytes) : std::string(status.message());
  }
};

constexpr char kMlp[] = "mlp_256x512x4";
constexpr uint64_t kMlpBytes = sizeof(float) * (2 * 256 * 512 + 2 * 512 * 512);  // its matrices

TEST_F(TorchScriptWeights, AModelThatUsesThoseOfAnotherAnswersAlike) {
  const std::unique_ptr<Model> plain = Load(kMlp);
  std::unique_ptr<Model> first = Load(kMlp);
  const std::unique_ptr<Model> second = Load(kMlp);
  EXPECT_GE(first->weights()->bytes(), kMlpBytes);
  EXPECT_LT(first->weights()->bytes(), kMlpBytes + (64 << 10));
  const std::string expected = Answer(plain.get());
  EXPECT_EQ(Answer(second.get()), expected);  // weights that have run before are moved as well
  absl::StatusOr<UniqueFd> memory = first->weights()->Share();
  ASSERT_TRUE(memory.ok()) << memory.status();
  const absl::Status used = second->weights()->Use(*std::move(memory));
  ASSERT_TRUE(used.ok()) << used;
  EXPECT_EQ(Answer(first.get()), expected);
  first.reset();  // as a worker that dies
  EXPECT_EQ(Answer(second.get()), expected);
}

TEST_F(TorchScriptWeights, ThoseOfAnotherFileAreRefused) {
  const std::unique_ptr<Model> mlp = Load(kMlp);
  const std::unique_ptr<Model> other = Load("mlp_1024x6");
  const std::string expected = Answer(other.get());
  absl::StatusOr<UniqueFd> memory = mlp->weights()->Share();
  ASSERT_TRUE(memory.ok()) << memory.status();
  EXPECT_EQ(other->weights()->Use(*std::move(memory)).code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Answer(other.get()), expected);
}

TEST_F(TorchScriptWeights, WhatIsNoMemoryOfTheDeviceIsRefused) {
  const std::unique_ptr<Model> model = Load(kMlp);
  const std::string expected = Answer(model.get());
  EXPECT_FALSE(model->weights()->Use(UniqueFd(open("/dev/null", O_RDONLY))).ok());
  EXPECT_FALSE(model->weights()->Use(UniqueFd()).ok());
  EXPECT_EQ(Answer(model.get()), expected);
}

TEST_F(TorchScriptWeights, OnlyCudaSharesThemUntold) {
  const std::unique_ptr<Model> untold = Load(kMlp, {{"panels", "off"}});
  ASSERT_NE(untold, nullptr);
  EXPECT_EQ(untold->weights() != nullptr, TestDevice() != "cpu");
  const std::unique_ptr<Model> told = Load(kMlp, {{"shared_weights", "off"}});
  ASSERT_NE(told, nullptr);
  EXPECT_EQ(told->weights(), nullptr);
}

}  // namespace
}  // namespace mpsd
