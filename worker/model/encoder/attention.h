// attention: the attention of a batch's rows, each row within itself.
#pragma once

#include <optional>
#include <vector>

#include "ATen/core/TensorBody.h"
#include "worker/model/encoder/batch/device_batch.h"
#include "worker/model/encoder/head_layout.h"
#include "worker/model/encoder/ragged_attention.h"

namespace mpsd {

// MPNet's addition to scores: for each head a number by the distance of two tokens. Long distances
// share numbers by their logarithm. Constant, so thread-safe.
class DistanceBias {
 public:
  // `table` is the file's, [buckets, heads]; rows have at most `longest` tokens.
  DistanceBias(const at::Tensor& table, int64_t buckets, int64_t longest);

  // [heads, length, length]: a number for each query and key.
  at::Tensor Of(int64_t length) const;

 private:
  // [heads, 2 longest - 1], from the farthest before to the farthest behind.
  at::Tensor by_distance_;
  const int64_t longest_;
};

// The angle by which each position turns a pair: theta^0, theta^(-2 / head_size), …, each divided
// by `stretch`. On the device, [head_size / 2].
at::Tensor RotationFrequencies(double theta, double stretch, int64_t head_size, c10::Device device);

// Turns each pair of numbers of a query and a key by an angle that grows with the position. So
// their product depends on the distance. Made for one batch and all layers. Lives on the lane's
// thread.
class Rotation {
 public:
  // Both are on the device.
  Rotation(const at::Tensor& positions, const at::Tensor& frequencies);

  // Works in place, on [tokens, all heads].
  void Turn(const at::Tensor& query_key_value, int64_t heads) const;

 private:
  at::Tensor cosines_;  // [tokens, 1, head_size / 2]
  at::Tensor sines_;
};

// Plans the attention of one batch for all layers. A packed batch takes one call if RaggedAttention
// serves it, otherwise one for each length. Keeps no reference to the batch. Lives on the lane's
// thread.
class Attention {
 public:
  // `bias` is null if the sight has a reach or is causal. The tokens' numbers are of `type`.
  // REQUIRES: RaggedAttention serves a batch that is packed for cuda.
  Attention(const DeviceBatch& batch, const HeadLayout& heads, const DistanceBias* bias,
            const Sight& sight, at::ScalarType type = at::kFloat);

  // [tokens, numbers of all queries]. Tokens see the counting tokens of their row.
  at::Tensor operator()(const at::Tensor& query_key_value) const;

 private:
  // Adjacent queries, and the keys they may see.
  struct Block {
    int64_t first_query = 0;
    int64_t queries = 0;
    int64_t first_key = 0;
    int64_t keys = 0;
    // Added to the scores, [rows or 1, heads or 1, queries or 1, keys]; undefined: nothing.
    at::Tensor added;
  };
  struct Run {
    TokenRun place;
    std::vector<Block> blocks;
  };
  static std::vector<Block> NearBlocks(const TokenRun& run, const at::Tensor& kept, int64_t reach,
                                       c10::Device device);
  // Repeats keys or values for the queries that share them, [rows, queries, length, size].
  at::Tensor Shared(const at::Tensor& keys) const;
  at::Tensor Compute(const Run& run, const at::Tensor& query_key_value) const;
  void ConvertAdded(at::ScalarType type);

  const HeadLayout heads_;
  const bool is_causal_;
  std::optional<RaggedAttention> ragged_;
  std::vector<Run> runs_;  // empty if `ragged_` is used
};

}  // namespace mpsd
