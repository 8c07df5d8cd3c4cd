// attention: the attention of a batch's rows, each within itself.
#pragma once

#include <vector>

#include "ATen/core/TensorBody.h"
#include "worker/model/encoder/token_batch.h"

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

// Positions as rotations: turns each pair of numbers of a query and of a key by an angle that grows
// with the position, so that their product depends on the distance. Plans one batch once, for all
// its layers. Lives on the lane's thread.
class Rotation {
 public:
  // The angles of a position are it times theta^0, theta^(-2 / head_size), ….
  Rotation(const TokenBatch& batch, double theta, int64_t head_size, c10::Device device);

  // Turns the queries and keys of [tokens, 3 hidden] where they lie.
  void Turn(const at::Tensor& query_key_value) const;

 private:
  at::Tensor cosines_;  // [tokens, 1, 1, head_size / 2]
  at::Tensor sines_;
};

// Plans the attention of one batch once, for all its layers to compute. Borrows the batch. Lives on
// the lane's thread.
class Attention {
 public:
  // `bias` may be null. With a `reach` above 0 a token sees that many to each side and no more, and
  // the bias is null. The tokens' numbers are of `type`.
  Attention(const TokenBatch& batch, int64_t head_count, const DistanceBias* bias, int64_t reach,
            c10::Device device, at::ScalarType type = at::kFloat);

  // [tokens, hidden] of the tokens' queries, keys and values, [tokens, 3 hidden]. Tokens see the
  // tokens of their own row that count.
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
  at::Tensor Compute(const Run& run, const at::Tensor& query_key_value) const;
  void ConvertAdded(at::ScalarType type);

  const int64_t head_count_;
  std::vector<Run> runs_;
};

}  // namespace mpsd
