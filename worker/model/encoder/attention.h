// attention: the attention of a batch's rows, each within itself.
#pragma once

#include <optional>
#include <vector>

#include "ATen/core/TensorBody.h"
#include "worker/model/encoder/batch/device_batch.h"
#include "worker/model/encoder/head_layout.h"
#include "worker/model/encoder/ragged_attention.h"

namespace mpsd {

// What MPNet adds to an attention's scores: a number a head for the distance between two tokens,
// near ones told apart and far ones by the logarithm. Constant after construction, so thread-safe.
class DistanceBias {
 public:
  // `table` is the file's, [buckets, heads]; rows have at most `longest` tokens.
  DistanceBias(const at::Tensor& table, int64_t buckets, int64_t longest);

  // [heads, length, length]: of query i and key j.
  at::Tensor Of(int64_t length) const;

 private:
  // [heads, 2 longest - 1], from the farthest before to the farthest behind.
  at::Tensor by_distance_;
  const int64_t longest_;
};

// What a position is turned by: theta^0, theta^(-2 / head_size), …, each by `stretch` slower. On
// the device, [head_size / 2].
at::Tensor RotationFrequencies(double theta, double stretch, int64_t head_size, c10::Device device);

// Positions as rotations: turns each pair of numbers of a query and of a key by an angle that grows
// with the position, so that their product depends on the distance. Plans one batch once, for all
// its layers. Lives on the lane's thread.
class Rotation {
 public:
  // Both on the device.
  Rotation(const at::Tensor& positions, const at::Tensor& frequencies);

  // Turns the first `heads` of [tokens, heads of any number] where they lie.
  void Turn(const at::Tensor& query_key_value, int64_t heads) const;

 private:
  at::Tensor cosines_;  // [tokens, 1, head_size / 2]
  at::Tensor sines_;
};

// Plans the attention of one batch once, for all its layers to compute: by one call where the
// device has RaggedAttention and the batch is packed, else by a call for the rows of each length.
// Keeps no reference to the batch. Lives on the lane's thread.
class Attention {
 public:
  // `bias` may be null, and is where the sight has a reach or is causal. The tokens' numbers are of
  // `type`. REQUIRES: a batch that is packed for cuda is one that RaggedAttention serves.
  Attention(const DeviceBatch& batch, const HeadLayout& heads, const DistanceBias* bias,
            const Sight& sight, at::ScalarType type = at::kFloat);

  // [tokens, numbers of all queries] of the tokens' queries, keys and values. Tokens see the tokens
  // of their own row that count.
  at::Tensor operator()(const at::Tensor& query_key_value) const;

 private:
  // Queries of a run that lie next to each other, and the keys that they may see.
  struct Block {
    int64_t first_query = 0;
    int64_t queries = 0;
    int64_t first_key = 0;
    int64_t keys = 0;
    // To the scores, [rows or 1, heads or 1, queries or 1, keys]; undefined: nothing.
    at::Tensor added;
  };
  struct Run {
    TokenRun place;
    std::vector<Block> blocks;
  };
  static std::vector<Block> NearBlocks(const TokenRun& run, const at::Tensor& kept, int64_t reach,
                                       c10::Device device);
  // The keys, or values, that each query has of its own, [rows, queries, length, size].
  at::Tensor Shared(const at::Tensor& keys) const;
  at::Tensor Compute(const Run& run, const at::Tensor& query_key_value) const;
  void ConvertAdded(at::ScalarType type);

  const HeadLayout heads_;
  const bool is_causal_;
  std::optional<RaggedAttention> ragged_;
  std::vector<Run> runs_;  // empty where `ragged_` is there
};

}  // namespace mpsd
