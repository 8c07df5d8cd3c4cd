// TorchScript modules that compute in another precision than they were saved in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "tests/worker/model/torchscript/script_rig.h"
#include "worker/execute/answer_agreement.h"
#include "worker/execute/trial_run.h"

namespace mpsd {
namespace {

using testing::HasSubstr;

class TorchScriptPrecision : public ScriptRig {
 protected:
  std::unique_ptr<Model> Made(const std::string& name, Precision precision) {
    EXPECT_TRUE(MakeModel(name, path_).ok());
    precision_ = precision;
    absl::StatusOr<std::unique_ptr<Model>> model = LoadPath({});
    EXPECT_TRUE(model.ok()) << model.status();
    return model.ok() ? *std::move(model) : nullptr;
  }

  // How far the model's answer in this precision is from the one in fp32.
  Agreement AgreementOf(const std::string& name, Precision precision) {
    std::vector<std::unique_ptr<KeptOutputs>> kept;
    ModelSpec spec;
    uint32_t rows = 0;
    for (const Precision each : {Precision::kFp32, precision}) {
      const std::unique_ptr<Model> model = Made(name, each);
      if (model == nullptr) return Agreement{.is_alike = false};
      EXPECT_EQ(model->traits().precision, each);
      const TrialInputs inputs(*model, TrialShapes(model->spec())[0], TrialFill::kSigned, 7);
      EXPECT_TRUE(model->BindLane(0).ok());
      kept.push_back(std::make_unique<KeptOutputs>());
      const absl::Status ran = model->Run(0, inputs.tensors(), inputs.rows(), kept.back().get());
      EXPECT_TRUE(ran.ok()) << name << ": " << ran;
      model->ReleaseLane(0);
      spec = model->spec();
      rows = inputs.rows();
    }
    return CompareAnswers(spec, rows, *kept[0], *kept[1]).at(0);
  }

  // The first number of the answer to `x`.
  float AnswerTo(const std::string& source, float x, Precision precision) {
    precision_ = precision;
    const auto model = LoadSource(source, SpecOf({1}));
    EXPECT_TRUE(model.ok()) << model.status();
    if (!model.ok()) return 0;
    const std::vector<float> numbers = {x};
    CollectingSink sink;
    EXPECT_TRUE(Run(model->get(), {InputOf(numbers, DataType::kFp32, {1, 1})}, 1, &sink).ok());
    EXPECT_EQ(sink.outputs()[0].datatype, DataType::kFp32);
    return sink.Elements<float>(0)[0];
  }
};

TEST_F(TorchScriptPrecision, HalvesOfWeightsAgreeAndAreNotTheSame) {
  for (const char* name : {"mlp_256x512x4", "transformer", "conv"}) {
    const Agreement agreement = AgreementOf(name, Precision::kBf16);
    EXPECT_EQ(AgreementFault(agreement), "") << name;
    EXPECT_GT(agreement.relative_error, 0) << name;
    EXPECT_GT(agreement.compared, 0u) << name;
  }
}

TEST_F(TorchScriptPrecision, Fp32OfAFloatModelIsTheModel) {
  const Agreement agreement = AgreementOf("mlp_256x512x4", Precision::kAsSaved);
  EXPECT_EQ(agreement.relative_error, 0);
}

TEST_F(TorchScriptPrecision, ClientsKeepTheirDatatypes) {
  const std::unique_ptr<Model> saved = Made("two_outputs", Precision::kAsSaved);
  const std::unique_ptr<Model> half = Made("two_outputs", Precision::kFp16);
  ASSERT_NE(saved, nullptr);
  ASSERT_NE(half, nullptr);
  EXPECT_EQ(half->spec(), saved->spec());
}

TEST_F(TorchScriptPrecision, OutputsAreLearnedAsTheyWereSaved) {
  precision_ = Precision::kBf16;
  const auto model =
      LoadSource("def forward(self, x: Tensor) -> Tensor:\n    return x * 2\n", SpecOf({3}));
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ((*model)->spec().outputs[0].datatype, DataType::kFp32);
}

constexpr char kTimesOne[] = "def forward(self, x: Tensor) -> Tensor:\n    return x * 1\n";

TEST_F(TorchScriptPrecision, InputsAreRoundedAtTheEdge) {
  const float x = 1 + 1.0F / 512;
  EXPECT_EQ(AnswerTo(kTimesOne, x, Precision::kFp32), x);
  EXPECT_EQ(AnswerTo(kTimesOne, x, Precision::kFp16), x);
  EXPECT_EQ(AnswerTo(kTimesOne, x, Precision::kBf16), 1);
}

TEST_F(TorchScriptPrecision, WhatItsAuthorComputesInFloatStaysFloat) {
  constexpr char kIsland[] =
      "def forward(self, x: Tensor) -> Tensor:\n"
      "    return x.to(6) + 0.001953125\n";
  EXPECT_EQ(AnswerTo(kIsland, 1, Precision::kBf16), 1 + 1.0F / 512);
}

TEST_F(TorchScriptPrecision, AFloatThatFlowsIntoAProductIsCast) {
  constexpr char kLeak[] =
      "def forward(self, x: Tensor) -> Tensor:\n"
      "    mask = torch.ones([1, 1], dtype=6, device=x.device)\n"
      "    return torch.matmul(x, mask * 3)\n";
  EXPECT_EQ(AnswerTo(kLeak, 3, Precision::kBf16), 9);
}

TEST_F(TorchScriptPrecision, AMaskBeyondTheRangeIsItsEnd) {
  constexpr char kMask[] =
      "def forward(self, x: Tensor) -> Tensor:\n"
      "    return (x * 1).masked_fill(x > 0, -1e9)\n";
  EXPECT_EQ(AnswerTo(kMask, 1, Precision::kFp32), -1e9F);
  EXPECT_EQ(AnswerTo(kMask, 1, Precision::kFp16), -65504);
  EXPECT_EQ(AnswerTo(kMask, -1, Precision::kFp16), -1);
}

TEST_F(TorchScriptPrecision, IntegersAreNotCast) {
  precision_ = Precision::kBf16;
  const auto model = LoadSource("def forward(self, x: Tensor) -> Tensor:\n    return x + 1\n",
                                SpecOf({1}, 4, DataType::kInt64));
  ASSERT_TRUE(model.ok()) << model.status();
  const std::vector<int64_t> numbers = {1001};
  CollectingSink sink;
  ASSERT_TRUE(Run(model->get(), {InputOf(numbers, DataType::kInt64, {1, 1})}, 1, &sink).ok());
  EXPECT_EQ(sink.Elements<int64_t>(0)[0], 1002);
}

TEST_F(TorchScriptPrecision, AnOperatorWithoutTheTypeIsNamed) {
  precision_ = Precision::kBf16;
  const std::string error = LoadError(
      "def forward(self, x: Tensor) -> Tensor:\n"
      "    return x * torch.linalg_inv(torch.mm(x.t(), x) + 1)\n",
      SpecOf({1}));
  EXPECT_THAT(error, HasSubstr("model 'm' cannot compute in bf16: linalg"));
}

TEST_F(TorchScriptPrecision, Tf32IsOfCudaAlone) {
  if (TestDevice() != "cpu") GTEST_SKIP() << "on cuda it is there";
  precision_ = Precision::kTf32;
  EXPECT_THAT(
      LoadError(kTimesOne, SpecOf({1})),
      HasSubstr("precision 'tf32' is of cuda devices alone, and the model's device is cpu"));
}

TEST_F(TorchScriptPrecision, Int8IsOfFoldersAlone) {
  if (TestDevice() != "cpu") GTEST_SKIP() << "elsewhere the device is named";
  precision_ = Precision::kInt8;
  EXPECT_THAT(LoadError(kTimesOne, SpecOf({1})),
              HasSubstr("cannot compute in int8: a TorchScript module's products are its own"));
}

TEST_F(TorchScriptPrecision, AutoTakesOneThatItCanTellOf) {
  const std::unique_ptr<Model> model = Made("transformer", Precision::kAuto);
  ASSERT_NE(model, nullptr);
  EXPECT_NE(model->traits().precision, Precision::kAuto);
  EXPECT_NE(model->traits().precision_note, "");
}

}  // namespace
}  // namespace mpsd
