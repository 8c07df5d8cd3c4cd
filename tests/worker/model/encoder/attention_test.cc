#include "worker/model/encoder/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/ops/arange.h"
#include "ATen/ops/cat.h"
#include "ATen/ops/rand.h"
#include "ATen/ops/zeros.h"

namespace mpsd {
namespace {

constexpr int64_t kHeads = 2;
constexpr int64_t kHidden = 8;
const HeadLayout kAlike = {kHeads, kHeads};

DeviceBatch OnCpu(const TokenBatch& batch) { return {batch, at::kCPU}; }

// For the positions from 0 on.
Rotation RotationOf(int64_t positions, double stretch) {
  return {at::arange(positions), RotationFrequencies(100, stretch, kHidden / kHeads, at::kCPU)};
}

// Rows of 3, 1 and 2 tokens, as `layout` puts them; the last one's padding comes first.
TokenBatch ThreeRows(TokenLayout layout) {
  EncoderConfig config;
  config.vocabulary_size = 10;
  config.position_count = 8;
  const std::vector<int64_t> ids(9, 1);
  const std::vector<int64_t> mask = {1, 1, 1, 1, 0, 0, 0, 1, 1};
  return PackTokens(config, {3, 3, ids.data(), mask.data(), nullptr}, layout);
}

// Expects of the padded rows what the packed ones give. Devices that need one shape compute so what
// the others compute of the tokens alone.
void ExpectAlikeInBothLayouts(const HeadLayout& heads, const DistanceBias* bias,
                              const Sight& sight) {
  const TokenBatch packed = ThreeRows(TokenLayout::kPacked);
  const TokenBatch padded = ThreeRows(TokenLayout::kPadded);
  ASSERT_EQ(packed.size(), 6);
  ASSERT_EQ(padded.size(), 9);
  const int64_t width = kHidden / kHeads * heads.all();
  const at::Tensor input = at::rand({6, width});
  at::Tensor spread = at::rand({9, width});
  const auto length_of = [&](size_t row) {
    EXPECT_EQ(packed.rows[row].last - packed.rows[row].first,
              padded.rows[row].last - padded.rows[row].first);
    return packed.rows[row].last - packed.rows[row].first + 1;
  };
  for (size_t row = 0; row < 3; ++row) {
    spread.narrow(0, padded.rows[row].first, length_of(row))
        .copy_(input.narrow(0, packed.rows[row].first, length_of(row)));
  }
  const at::Tensor one = Attention(OnCpu(packed), heads, bias, sight)(input);
  const at::Tensor other = Attention(OnCpu(padded), heads, bias, sight)(spread);
  EXPECT_FALSE(other.isnan().any().item<bool>());
  for (size_t row = 0; row < 3; ++row) {
    EXPECT_TRUE(one.narrow(0, packed.rows[row].first, length_of(row))
                    .allclose(other.narrow(0, padded.rows[row].first, length_of(row)), 1e-5, 1e-6))
        << "row " << row;
  }
}

TEST(Attention, OfPaddedRowsIsThatOfPackedOnes) {
  const DistanceBias bias(at::rand({32, kHeads}), 32, 8);
  ExpectAlikeInBothLayouts(kAlike, nullptr, Sight());
  ExpectAlikeInBothLayouts(kAlike, &bias, Sight());
  ExpectAlikeInBothLayouts(kAlike, nullptr, {/*reach=*/1});
  ExpectAlikeInBothLayouts(kAlike, nullptr, {/*reach=*/0, /*is_causal=*/true});
  ExpectAlikeInBothLayouts({kHeads, /*keys=*/1}, nullptr, {/*reach=*/0, /*is_causal=*/true});
  ExpectAlikeInBothLayouts({kHeads, /*keys=*/1}, nullptr, {/*reach=*/1});
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
  const at::Tensor near = Attention(OnCpu(OneRow(kLength)), kAlike, nullptr, {kReach})(input);
  for (const int64_t token : {0, 3, 255, 256, 260, 599}) {
    const int64_t first = std::max<int64_t>(0, token - kReach);
    const int64_t length = std::min(kLength, token + kReach + 1) - first;
    const at::Tensor seen = input.narrow(0, first, length);
    const at::Tensor alone = Attention(OnCpu(OneRow(length)), kAlike, nullptr, Sight())(seen);
    EXPECT_TRUE(near[token].allclose(alone[token - first], 1e-5, 1e-6)) << token;
  }
}

TEST(Attention, CausalSeesNoTokenBehind) {
  constexpr int64_t kLength = 9;
  const at::Tensor input = at::rand({kLength, 3 * kHidden});
  const at::Tensor all =
      Attention(OnCpu(OneRow(kLength)), kAlike, nullptr, {/*reach=*/0, /*is_causal=*/true})(input);
  for (int64_t length = 1; length <= kLength; ++length) {
    const at::Tensor alone =
        Attention(OnCpu(OneRow(length)), kAlike, nullptr, Sight())(input.narrow(0, 0, length));
    EXPECT_TRUE(all[length - 1].allclose(alone[length - 1], 1e-5, 1e-6)) << length;
  }
}

TEST(Attention, QueriesShareTheKeysOfTheirNeighbours) {
  constexpr int64_t kSize = kHidden / kHeads;
  const at::Tensor input = at::rand({5, 8 * kSize});  // 4 queries, 2 keys, 2 values
  const at::Tensor shared =
      Attention(OnCpu(OneRow(5)), {/*queries=*/4, /*keys=*/2}, nullptr, Sight())(input);
  const auto head = [&](int64_t number) { return input.narrow(1, number * kSize, kSize); };
  for (int64_t query = 0; query < 4; ++query) {
    const at::Tensor alone = at::cat({head(query), head(4 + query / 2), head(6 + query / 2)}, 1);
    const at::Tensor seen = Attention(OnCpu(OneRow(5)), {1, 1}, nullptr, Sight())(alone);
    EXPECT_TRUE(shared.narrow(1, query * kSize, kSize).allclose(seen, 1e-5, 1e-6)) << query;
  }
}

TEST(Attention, ScalesTheScoresAsItIsTold) {
  const at::Tensor input = at::rand({5, 3 * kHidden});
  at::Tensor louder = input.clone();
  louder.narrow(1, 0, kHidden).mul_(3);
  const double usual = 1 / std::sqrt(static_cast<double>(kHidden / kHeads));
  const at::Tensor told =
      Attention(OnCpu(OneRow(5)), {kHeads, kHeads, 3 * usual}, nullptr, Sight())(input);
  EXPECT_TRUE(
      told.allclose(Attention(OnCpu(OneRow(5)), kAlike, nullptr, Sight())(louder), 1e-5, 1e-6));
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
  const at::Tensor out = Attention(OnCpu(batch), kAlike, nullptr, {2})(at::rand({16, 3 * kHidden}));
  EXPECT_FALSE(out.isnan().any().item<bool>());
}

TEST(Rotation, MakesProductsDependOnTheDistance) {
  const at::Tensor same = at::rand({1, 3 * kHidden}).expand({12, 3 * kHidden}).contiguous();
  const at::Tensor turned = same.clone();
  RotationOf(12, 1).Turn(turned, kAlike.turned());
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

TEST(Rotation, AStretchSlowsItDown) {
  const at::Tensor same = at::rand({1, 3 * kHidden}).expand({12, 3 * kHidden}).contiguous();
  const at::Tensor turned = same.clone();
  const at::Tensor slow = same.clone();
  RotationOf(12, 1).Turn(turned, kAlike.turned());
  RotationOf(12, 2).Turn(slow, kAlike.turned());
  EXPECT_TRUE(slow[10].allclose(turned[5], 1e-5, 1e-6));
  EXPECT_FALSE(slow[10].allclose(turned[10], 1e-5, 1e-6));
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
