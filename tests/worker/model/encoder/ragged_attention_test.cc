#include "worker/model/encoder/ragged_attention.h"

#include <gtest/gtest.h>

#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/ops/rand.h"
#include "ATen/ops/zeros.h"
#include "tests/worker/model/test_device.h"
#include "worker/model/encoder/attention.h"

namespace mpsd {
namespace {

constexpr int64_t kQueryHeads = 4;
constexpr int64_t kHeadSize = 16;
constexpr int64_t kLongestRow = 40;

EncoderConfig RaggedConfig() {
  EncoderConfig config;
  config.vocabulary_size = 10;
  config.position_count = kLongestRow;
  config.hidden_size = kQueryHeads * kHeadSize;
  config.head_count = kQueryHeads;
  return config;
}

TEST(RaggedAttention, ServesWhatItsKernelsTake) {
  const c10::Device cuda("cuda:0");
  const auto serves = [&](const EncoderConfig& config) {
    return std::vector<bool>{RaggedAttention::Serves(config, cuda, at::kFloat),
                             RaggedAttention::Serves(config, cuda, at::kBFloat16)};
  };
  EncoderConfig config = RaggedConfig();
  EXPECT_FALSE(RaggedAttention::Serves(config, c10::Device("cpu"), at::kFloat));
  EXPECT_FALSE(RaggedAttention::Serves(config, c10::Device("mps"), at::kHalf));
  EXPECT_EQ(serves(config), (std::vector<bool>{true, true}));
  config.rotary.reach = 8;
  EXPECT_EQ(serves(config), (std::vector<bool>{false, true}));
  config = RaggedConfig();
  config.decoder.head_size = 12;
  EXPECT_EQ(serves(config), (std::vector<bool>{true, false}));
  config.decoder.head_size = 264;
  EXPECT_EQ(serves(config), (std::vector<bool>{true, false}));
  config = RaggedConfig();
  config.distance_buckets = 32;
  EXPECT_EQ(serves(config), (std::vector<bool>{false, false}));
}

// Rows of 1 to kLongestRow tokens, some of them alike, with a mask at their ends.
TokenBatch MixedRows(TokenLayout layout) {
  const std::vector<int64_t> lengths = {7, 1, kLongestRow, 19, 7, 33};
  const auto rows = static_cast<int64_t>(lengths.size());
  const std::vector<int64_t> ids(static_cast<size_t>(rows * kLongestRow), 1);
  std::vector<int64_t> mask(ids.size(), 0);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < lengths[static_cast<size_t>(row)]; ++i) mask[row * kLongestRow + i] = 1;
  }
  return PackTokens(RaggedConfig(), {rows, kLongestRow, ids.data(), mask.data(), nullptr}, layout);
}

// The same rows, computed in floats and padded on the cpu, are the measure.
void ExpectAsPadded(const HeadLayout& heads, const Sight& sight, at::ScalarType type,
                    double farthest) {
  const c10::Device device(TestDevice());
  const TokenBatch packed = MixedRows(TokenLayout::kPacked);
  const TokenBatch padded = MixedRows(TokenLayout::kPadded);
  const at::Tensor input =
      at::rand({packed.size(), heads.all() * kHeadSize}).to(type).to(at::kFloat);
  const auto place = [](const at::Tensor& tokens, const TokenRow& row) {
    return tokens.narrow(0, row.first, row.last - row.first + 1);
  };
  at::Tensor spread = at::zeros({padded.size(), input.size(1)});
  for (size_t row = 0; row < packed.rows.size(); ++row) {
    place(spread, padded.rows[row]).copy_(place(input, packed.rows[row]));
  }
  const at::Tensor measure =
      Attention(DeviceBatch(padded, at::kCPU), heads, nullptr, sight)(spread);
  const at::Tensor seen =
      RaggedAttention(DeviceBatch(packed, device), heads, sight)(input.to(device, type))
          .to(at::kFloat)
          .cpu();
  for (size_t row = 0; row < packed.rows.size(); ++row) {
    const at::Tensor off = (place(seen, packed.rows[row]) - place(measure, padded.rows[row])).abs();
    EXPECT_LT(off.max().item<float>(), farthest) << "row " << row;
  }
}

TEST(RaggedAttention, OfMixedRowsIsThatOfPaddedOnes) {
  if (!c10::Device(TestDevice()).is_cuda()) GTEST_SKIP() << "MPSD_TEST_DEVICE is no cuda device";
  const HeadLayout alike = {kQueryHeads, kQueryHeads};
  const HeadLayout shared = {kQueryHeads, /*keys=*/2};
  const HeadLayout scaled = {kQueryHeads, kQueryHeads, /*score_scale=*/0.5};
  const Sight all;
  const Sight causal = {/*reach=*/0, /*is_causal=*/true};
  const Sight near = {/*reach=*/5};
  for (const HeadLayout& heads : {alike, shared, scaled}) {
    for (const Sight& sight : {all, causal}) {
      ExpectAsPadded(heads, sight, at::kFloat, 1e-5);
      ExpectAsPadded(heads, sight, at::kHalf, 2e-3);
    }
    ExpectAsPadded(heads, near, at::kBFloat16, 1e-2);
  }
}

}  // namespace
}  // namespace mpsd
