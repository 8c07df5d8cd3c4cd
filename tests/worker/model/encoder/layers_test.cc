#include "worker/model/encoder/layers.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ATen/Parallel.h"
#include "ATen/TensorOperators.h"
#include "ATen/native/verbose_wrapper.h"
#include "ATen/ops/allclose.h"
#include "ATen/ops/equal.h"
#include "ATen/ops/gelu.h"
#include "ATen/ops/linspace.h"
#include "ATen/ops/rms_norm.h"

namespace mpsd {
namespace {

std::string BytesOf(const at::Tensor& tensor) {
  return {static_cast<const char*>(tensor.const_data_ptr()), tensor.nbytes()};
}

TEST(EncoderWeights, PutsNumbersSideBySide) {
  const at::Tensor saved = at::linspace(1, 6, 6);
  const std::string bytes = BytesOf(saved);
  const StoredTensors source = {
      {"across", {"F32", {3, 2}, bytes, {1, 3}}},
      {"cut", {"F32", {2, 2}, absl::string_view(bytes).substr(4), {3, 1}}}};
  EncoderWeights weights(source, "", at::kCPU);
  const at::Tensor across = weights.Take("across", {3, 2});
  EXPECT_TRUE(across.is_contiguous());
  EXPECT_TRUE(at::equal(across, saved.view({2, 3}).t()));
  EXPECT_TRUE(at::equal(weights.Take("cut", {2, 2}), saved.view({2, 3}).narrow(1, 1, 2)));
  EXPECT_TRUE(weights.Finish().ok());
}

TEST(EncoderWeights, TakesOneRowOfAMatrix) {
  const at::Tensor saved = at::linspace(1, 6, 6);
  const std::string bytes = BytesOf(saved);
  const StoredTensors source = {{"e.words", {"F32", {3, 2}, bytes}},
                                {"across", {"F32", {3, 2}, bytes, {1, 3}}}};
  EncoderWeights weights(source, "e.", at::kCPU);
  const at::Tensor row = weights.TakeRow("words", {3, 2}, 2, /*whole=*/false);
  EXPECT_TRUE(at::equal(row, saved.view({3, 2})[2]));
  const at::Tensor across = weights.TakeRow("across", {3, 2}, 1, /*whole=*/true);
  EXPECT_TRUE(at::equal(across, saved.view({2, 3}).t()[1]));
  EXPECT_TRUE(weights.Finish().ok());
  weights.TakeRow("words", {4, 2}, 3, /*whole=*/false);
  EXPECT_EQ(weights.Finish().message(), "the tensor 'e.words' has the shape [3,2], not [4,2]");
}

class NormOfSquares : public testing::Test {
 protected:
  Norm Take(at::ScalarType type, bool counts_from_one) {
    weights_.HandOutAs(type);
    Norm norm = Norm::TakeOfSquares(&weights_, "norm", 256, 1e-6, counts_from_one);
    EXPECT_TRUE(weights_.ok());
    EXPECT_EQ(weights_.Take("norm.weight", {256}).scalar_type(), type) << "as before";
    return norm;
  }

  const at::Tensor saved_ = at::linspace(-0.05, 0.05, 256);
  const at::Tensor rows_ = at::linspace(-3, 2, 512).reshape({2, 256});
  const std::string bytes_ = BytesOf(saved_);
  const StoredTensors source_ = {{"norm.weight", {"F32", {256}, bytes_}}};
  EncoderWeights weights_{source_, "", at::kCPU};
};

TEST_F(NormOfSquares, AScaleThatCountsFromOneKeepsItsDigitsInHalves) {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    const at::Tensor rows = rows_.to(type);
    const at::Tensor answer = Take(type, true)(rows);
    EXPECT_EQ(answer.scalar_type(), type);
    const at::Tensor exact = at::rms_norm(rows.to(at::kFloat), {256}, saved_ + 1, 1e-6);
    EXPECT_TRUE(at::equal(answer, exact.to(type)));
  }
}

TEST_F(NormOfSquares, AnotherScaleIsOfTheTypeThatIsHandedOut) {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    const at::Tensor rows = rows_.to(type);
    const at::Tensor answer = Take(type, false)(rows);
    EXPECT_EQ(answer.scalar_type(), type);
    EXPECT_TRUE(at::equal(answer, at::rms_norm(rows, {256}, saved_.to(type), 1e-6)));
  }
}

// How many programs oneDNN makes while `work` is done.
template <typename Work>
size_t ProgramsMade(const Work& work) {
  torch::verbose::_mkldnn_set_verbose(2);  // tells on stdout
  testing::internal::CaptureStdout();
  work();
  const std::string told = testing::internal::GetCapturedStdout();
  torch::verbose::_mkldnn_set_verbose(0);
  size_t made = 0;
  for (size_t at = 0; (at = told.find("cache_miss", at)) != std::string::npos; ++at) ++made;
  return made;
}

at::Tensor Waves(int64_t rows) {
  return at::linspace(-4, 3, rows * 20).sin().mul(3).reshape({rows, 20});
}

TEST(Gelu, IsTheSameInBlocks) {
  for (const int64_t rows : {1, 127, 128, 129, 1000}) {
    const at::Tensor whole = at::gelu(Waves(rows));
    EXPECT_TRUE(at::equal(Activate(Activation::kGelu, Waves(rows)), whole)) << rows;
  }
}

TEST(Gelu, NeedsFewProgramsForManyNumbersOfRows) {
  if (ProgramsMade([] { at::gelu(Waves(3 * kGeluRows)); }) == 0) {
    GTEST_SKIP() << "this libtorch makes none";
  }
  const size_t made = ProgramsMade([] {
    for (int64_t rows = 1; rows < 4 * kGeluRows; ++rows) {
      Activate(Activation::kGelu, Waves(rows));
    }
  });
  EXPECT_GT(made, 0u);
  EXPECT_LE(made, static_cast<size_t>(kGeluRows));
}

// Large enough for several threads.
class LinearOfPanels : public testing::TestWithParam<Products> {
 protected:
  void SetUp() override {
    if (!HasPanelProducts()) GTEST_SKIP() << "this processor has no such product";
  }
  void TearDown() override { at::set_num_threads(1); }

  Linear Take(Products products) {
    weights_.MultiplyBy(products);
    return Linear::Take(&weights_, "map", 256, 200);
  }

  const at::Tensor rows_ = at::linspace(-3, 2, 64 * 256).sin().reshape({64, 256});
  const std::string weight_ = BytesOf(at::linspace(-90, 70, 200 * 256).sin());
  const std::string bias_ = BytesOf(at::linspace(-1, 1, 200));
  const StoredTensors source_ = {{"map.weight", {"F32", {200, 256}, weight_}},
                                 {"map.bias", {"F32", {200}, bias_}}};
  EncoderWeights weights_{source_, "", at::kCPU};
};

TEST_P(LinearOfPanels, MultipliesAsLibtorchDoes) {
  const bool is_int8 = GetParam() == Products::kInt8Panels;
  const at::Tensor expected = Take(Products::kTorch)(rows_);
  EXPECT_TRUE(at::allclose(Take(GetParam())(rows_), expected, 0, is_int8 ? 0.5 : 1e-3));
  EXPECT_TRUE(at::allclose(Take(GetParam())(rows_.t().contiguous().t()), expected, 0,
                           is_int8 ? 0.5 : 1e-3));
}

TEST_P(LinearOfPanels, SeveralThreadsGiveTheSame) {
  const Linear linear = Take(GetParam());
  at::set_num_threads(1);
  const at::Tensor alone = linear(rows_);
  for (const int threads : {2, 3}) {
    at::set_num_threads(threads);
    EXPECT_TRUE(at::equal(linear(rows_), alone));
  }
}

INSTANTIATE_TEST_SUITE_P(All, LinearOfPanels,
                         testing::Values(Products::kFloatPanels, Products::kInt8Panels));

}  // namespace
}  // namespace mpsd
