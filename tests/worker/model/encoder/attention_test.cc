#include "worker/model/encoder/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/ops/rand.h"
#include "ATen/ops/zeros.h"

namespace mpsd {
namespace {

constexpr int64_t kHeads = 2;
constexpr int64_t kHidden = 8;
constexpr int64_t kEverywhere = 0;

// Rows of 3, 1 and 3 tokens, as `layout` puts them.
TokenBatch ThreeRows(TokenLayout layout) {
  EncoderConfig config;
  config.vocabulary_size = 10;
  config.position_count = 8;
  const std::vector<int64_t> ids(9, 1);
  const std::vector<int64_t> mask = {1, 1, 1, 1, 0, 0, 1, 1, 1};
  return PackTokens(config, {3, 3, ids.data(), mask.data(), nullptr}, layout);
}

// Devices that need one shape compute what the others compute of the tokens alone.
TEST(Attention, OfPaddedRowsIsThatOfPackedOnes) {
  const TokenBatch packed = ThreeRows(TokenLayout::kPacked);
  const TokenBatch padded = ThreeRows(TokenLayout::kPadded);
  ASSERT_EQ(packed.size(), 7);
  ASSERT_EQ(padded.size(), 9);
  const at::Tensor input = at::rand({7, 3 * kHidden});
  at::Tensor spread = at::rand({9, 3 * kHidden});
  for (size_t row = 0; row < 3; ++row) {
    const int64_t length = packed.rows[row].last - packed.rows[row].first + 1;
    spread.narrow(0, padded.rows[row].first, length)
        .copy_(input.narrow(0, packed.rows[row].first, length));
  }
  const DistanceBias bias(at::rand({32, kHeads}), 32, 8);
  for (const DistanceBias* added : {static_cast<const DistanceBias*>(nullptr), &bias}) {
    const at::Tensor one = Attention(packed, kHeads, added, kEverywhere, at::kCPU)(input);
    const at::Tensor other = Attention(padded, kHeads, added, kEverywhere, at::kCPU)(spread);
    for (size_t row = 0; row < 3; ++row) {
      const int64_t length = packed.rows[row].last - packed.rows[row].first + 1;
      EXPECT_TRUE(one.narrow(0, packed.rows[row].first, length)
                      .allclose(other.narrow(0, padded.rows[row].first, length), 1e-5, 1e-6))
          << "row " << row;
    }
  }
}

// One row of `length` tokens.
TokenBatch OneRow(int64_t length) {
  EncoderConfig config;
  config.vocabulary_size = 10;
  config.position_count = length;
  const std::vector<int64_t> ones(static_cast<size_t>(length), 1);
  return PackTokens(config, {1, length, ones.data(), ones.data(), nullptr}, TokenLayout::kPacked);
}

// Longer than a block of queries, so that blocks meet.
TEST(Attention, WithAReachSeesNoFarToken) {
  constexpr int64_t kLength = 600;
  constexpr int64_t kReach = 5;
  const at::Tensor input = at::rand({kLength, 3 * kHidden});
  const at::Tensor near = Attention(OneRow(kLength), kHeads, nullptr, kReach, at::kCPU)(input);
  for (const int64_t token : {0, 3, 255, 256, 260, 599}) {
    const int64_t first = std::max<int64_t>(0, token - kReach);
    const int64_t length = std::min(kLength, token + kReach + 1) - first;
    const at::Tensor seen = input.narrow(0, first, length);
    const at::Tensor alone =
        Attention(OneRow(length), kHeads, nullptr, kEverywhere, at::kCPU)(seen);
    EXPECT_TRUE(near[token].allclose(alone[token - first], 1e-5, 1e-6)) << token;
  }
}

TEST(Attention, WithAReachOfPaddedRowsIsANumberEverywhere) {
  EncoderConfig config;
  config.vocabulary_size = 10;
  config.position_count = 16;
  const std::vector<int64_t> ids(16, 1);
  std::vector<int64_t> mask(16, 0);
  mask[0] = 1;
  const TokenBatch batch =
      PackTokens(config, {1, 16, ids.data(), mask.data(), nullptr}, TokenLayout::kPadded);
  const at::Tensor out =
      Attention(batch, kHeads, nullptr, 2, at::kCPU)(at::rand({16, 3 * kHidden}));
  EXPECT_FALSE(out.isnan().any().item<bool>());
}

TEST(Rotation, MakesProductsDependOnTheDistance) {
  const TokenBatch batch = OneRow(12);
  const at::Tensor same = at::rand({1, 3 * kHidden}).expand({12, 3 * kHidden}).contiguous();
  const at::Tensor turned = same.clone();
  Rotation(batch, 100, kHidden / kHeads, at::kCPU).Turn(turned);
  const at::Tensor query = turned.narrow(1, 0, kHidden);
  const at::Tensor key = turned.narrow(1, kHidden, kHidden);
  const auto product = [&](int64_t i, int64_t j) {
    return (query[i] * key[j]).sum().item<float>();
  };
  EXPECT_NEAR(product(2, 5), product(8, 11), 1e-5);
  EXPECT_GT(std::abs(product(2, 5) - product(2, 2)), 1e-3);
  EXPECT_TRUE(turned[0].allclose(same[0]));
  EXPECT_TRUE(turned.narrow(1, 2 * kHidden, kHidden).equal(same.narrow(1, 2 * kHidden, kHidden)));
}

TEST(DistanceBias, TellsNearDistancesApartAndFarOnesNot) {
  at::Tensor table = at::zeros({32, 1});
  for (int64_t bucket = 0; bucket < 32; ++bucket) table[bucket][0] = static_cast<float>(bucket);
  const at::Tensor bias = DistanceBias(table, 32, 200).Of(150)[0];
  const auto at = [&](int64_t query, int64_t key) { return bias[query][key].item<float>(); };
  EXPECT_EQ(at(5, 5), 0);
  EXPECT_EQ(at(5, 4), 1);   // before
  EXPECT_EQ(at(5, 6), 17);  // behind
  EXPECT_EQ(at(8, 0), 8);
  EXPECT_EQ(at(149, 0), 15);
  EXPECT_EQ(at(0, 149), 31);
}

}  // namespace
}  // namespace mpsd
