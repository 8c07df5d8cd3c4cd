#include "worker/model/encoder/encoder_head.h"

#include <gtest/gtest.h>

#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/ops/rand.h"

namespace mpsd {
namespace {

constexpr int64_t kWidth = 8;

// Rows of 3, 0, 1 and 3 tokens.
TokenBatch FourRows(TokenLayout layout) {
  EncoderConfig config;
  config.vocabulary_size = 10;
  config.position_count = 8;
  const std::vector<int64_t> ids(12, 1);
  const std::vector<int64_t> mask = {1, 1, 1, 0, 0, 0, 0, 1, 0, 1, 1, 1};
  return PackTokens(config, {4, 3, ids.data(), mask.data(), nullptr}, layout);
}

at::Tensor Pooled(Pooling pooling, const at::Tensor& tokens, const TokenBatch& batch) {
  EncoderFolder folder;
  folder.pooling = pooling;
  const StoredTensors none;
  EncoderWeights weights(none, "", at::kCPU);
  const auto head = SentenceHead::Load(ModelFolder(""), folder, &weights, at::kCPU);
  return (*head)->Run(tokens, DeviceBatch(batch, at::kCPU))[0];
}

// The numbers of tokens that do not count change nothing.
TEST(SentenceHead, PoolsPaddedRowsAsItDoesPackedOnes) {
  const TokenBatch packed = FourRows(TokenLayout::kPacked);
  const TokenBatch padded = FourRows(TokenLayout::kPadded);
  const at::Tensor tokens = at::rand({packed.size(), kWidth});
  at::Tensor spread = at::rand({padded.size(), kWidth}) * 100;
  for (size_t row = 0; row < 4; ++row) {
    const int64_t length = packed.rows[row].last - packed.rows[row].first + 1;
    spread.narrow(0, padded.rows[row].first, length)
        .copy_(tokens.narrow(0, packed.rows[row].first, length));
  }
  for (const Pooling pooling : {Pooling::kMean, Pooling::kFirst, Pooling::kLast, Pooling::kMax}) {
    const at::Tensor one = Pooled(pooling, tokens, packed);
    EXPECT_TRUE(one.allclose(Pooled(pooling, spread, padded))) << NameOf(pooling);
    EXPECT_TRUE(one[1].eq(0).all().item<bool>()) << NameOf(pooling);
  }
}

TEST(SentenceHead, GivesTheRowsInTheRequestsOrder) {
  const TokenBatch batch = FourRows(TokenLayout::kPacked);
  const at::Tensor tokens = at::rand({batch.size(), kWidth});
  const at::Tensor mean = Pooled(Pooling::kMean, tokens, batch);
  const at::Tensor largest = Pooled(Pooling::kMax, tokens, batch);
  for (const size_t row : {0, 2, 3}) {
    const TokenRow& place = batch.rows[row];
    const at::Tensor own = tokens.narrow(0, place.first, place.last - place.first + 1);
    EXPECT_TRUE(mean[static_cast<int64_t>(row)].allclose(own.sum({0}, false) / own.size(0)));
    EXPECT_TRUE(largest[static_cast<int64_t>(row)].equal(own.amax(0)));
  }
}

}  // namespace
}  // namespace mpsd
