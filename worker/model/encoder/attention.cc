#include "worker/model/encoder/attention.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "ATen/TensorOperators.h"
#include "ATen/ops/arange.h"
#include "ATen/ops/cat.h"
#include "ATen/ops/pow.h"
#include "ATen/ops/scaled_dot_product_attention.h"
#include "ATen/ops/tensor.h"
#include "proto/base/check.h"

namespace mpsd {
namespace {

constexpr double kFarthest = 128;       // MPNet treats all longer distances alike
constexpr float kUnseen = -1e30F;       // added to a score: its share becomes exactly 0
constexpr float kUnseenInHalf = -3e4F;  // as kUnseen, within the range of all types
constexpr int64_t kNearBlock = 256;     // queries of a local layer in one call

// Computes in floats, as transformers does.
int64_t BucketOf(int64_t distance, int64_t buckets) {
  const int64_t half = buckets / 2;
  const int64_t side = distance > 0 ? half : 0;
  const int64_t steps = std::abs(distance);
  const int64_t exact = half / 2;
  if (steps < exact) return side + steps;
  const auto near = static_cast<float>(exact);
  const float far = std::log(static_cast<float>(steps) / near) /
                    static_cast<float>(std::log(kFarthest / static_cast<double>(exact))) *
                    static_cast<float>(half - exact);
  return side + std::min(exact + static_cast<int64_t>(far), half - 1);
}

// A counting key gets 0, another one kUnseen, [rows, 1, 1, length]. Minus infinity would make a
// token that sees no other NaN, and spoil its neighbours.
at::Tensor MaskOf(const TokenBatch& batch, const TokenRun& run) {
  std::vector<float> added(static_cast<size_t>(run.rows * run.length));
  for (size_t i = 0; i < added.size(); ++i) {
    const bool is_kept = batch.kept[static_cast<size_t>(run.first) + i] != 0;
    added[i] = is_kept ? 0.0F : kUnseen;
  }
  return at::tensor(added).view({run.rows, 1, 1, run.length});
}

// 0 where query `first_query` + i reaches key `first_key` + j, otherwise kUnseen, [1, 1, queries,
// keys].
at::Tensor NearMask(int64_t first_query, int64_t queries, int64_t first_key, int64_t keys,
                    int64_t reach) {
  std::vector<float> added(static_cast<size_t>(queries * keys), kUnseen);
  for (int64_t query = 0; query < queries; ++query) {
    for (int64_t key = 0; key < keys; ++key) {
      const int64_t distance = first_query + query - first_key - key;
      if (std::abs(distance) <= reach) added[static_cast<size_t>(query * keys + key)] = 0.0F;
    }
  }
  return at::tensor(added).view({1, 1, queries, keys});
}

}  // namespace

DistanceBias::DistanceBias(const at::Tensor& table, int64_t buckets, int64_t longest)
    : longest_(longest) {
  std::vector<int64_t> of_distance;
  for (int64_t distance = 1 - longest; distance < longest; ++distance) {
    of_distance.push_back(BucketOf(distance, buckets));
  }
  by_distance_ = table.index_select(0, at::tensor(of_distance).to(table.device())).t().contiguous();
}

at::Tensor DistanceBias::Of(int64_t length) const {
  // Window w holds the distances from w + 1 - length on, which belong to query length - 1 - w.
  const at::Tensor windows =
      by_distance_.narrow(1, longest_ - length, 2 * length - 1).unfold(1, length, 1);
  return windows.flip({1}).contiguous();
}

// Computes in floats, as transformers does: at position 8,000 the last bit is some hundredths of a
// degree.
at::Tensor RotationFrequencies(double theta, double stretch, int64_t head_size,
                               c10::Device device) {
  const at::Tensor exponents = at::arange(0, head_size, 2, at::kFloat) / head_size;
  return (at::pow(theta, exponents).reciprocal() / stretch).to(device);
}

Rotation::Rotation(const at::Tensor& positions, const at::Tensor& frequencies) {
  const at::Tensor angles = positions.to(at::kFloat).unsqueeze(1) * frequencies;
  cosines_ = angles.cos().unsqueeze(1);
  sines_ = angles.sin().unsqueeze(1);
}

void Rotation::Turn(const at::Tensor& query_key_value, int64_t heads) const {
  const int64_t half = cosines_.size(2);
  const at::Tensor turned =
      query_key_value.view({query_key_value.size(0), -1, 2 * half}).narrow(1, 0, heads);
  const at::Tensor first = turned.narrow(2, 0, half);
  const at::Tensor second = turned.narrow(2, half, half);
  const at::Tensor turned_first = first * cosines_ - second * sines_;
  second.copy_(second * cosines_ + first * sines_);
  first.copy_(turned_first);
}

Attention::Attention(const DeviceBatch& batch, const HeadLayout& heads, const DistanceBias* bias,
                     const Sight& sight, at::ScalarType type)
    : heads_(heads), is_causal_(sight.is_causal) {
  if (batch.is_ragged()) {
    MPSD_CHECK(bias == nullptr);
    ragged_.emplace(batch, heads, sight);
    return;
  }
  const c10::Device device = batch.device();
  const TokenBatch& host = batch.host();
  for (const TokenRun& run : host.runs) {
    at::Tensor added;
    // Counting tokens come first, so a causal attention needs no mask.
    if (!host.kept.empty() && !is_causal_) added = MaskOf(host, run).to(device);
    if (sight.reach > 0 && run.length > sight.reach + 1) {
      runs_.push_back({run, NearBlocks(run, added, sight.reach, device)});
      continue;
    }
    if (bias != nullptr) {
      const at::Tensor of_run = bias->Of(run.length).unsqueeze(0);
      added = added.defined() ? added + of_run : of_run;
    }
    runs_.push_back({run, {{0, run.length, 0, run.length, added}}});
  }
  if (type != at::kFloat) ConvertAdded(type);
}

// Two kUnseen, or one in half precision, would be minus infinity.
void Attention::ConvertAdded(at::ScalarType type) {
  for (Run& run : runs_) {
    for (Block& block : run.blocks) {
      if (block.added.defined()) block.added = block.added.clamp_min(kUnseenInHalf).to(type);
    }
  }
}

// Memory grows with the length, not its square.
std::vector<Attention::Block> Attention::NearBlocks(const TokenRun& run, const at::Tensor& kept,
                                                    int64_t reach, c10::Device device) {
  std::vector<Block> blocks;
  for (int64_t first = 0; first < run.length; first += kNearBlock) {
    Block& block = blocks.emplace_back();
    block.first_query = first;
    block.queries = std::min(kNearBlock, run.length - first);
    block.first_key = std::max<int64_t>(0, first - reach);
    block.keys = std::min(run.length, first + block.queries + reach) - block.first_key;
    block.added = NearMask(first, block.queries, block.first_key, block.keys, reach).to(device);
    if (kept.defined()) block.added = block.added + kept.narrow(3, block.first_key, block.keys);
  }
  return blocks;
}

at::Tensor Attention::Shared(const at::Tensor& keys) const {
  if (heads_.keys == heads_.queries) return keys;
  return keys.unsqueeze(2)
      .expand({keys.size(0), heads_.keys, heads_.queries / heads_.keys, keys.size(2), keys.size(3)})
      .reshape({keys.size(0), heads_.queries, keys.size(2), keys.size(3)});
}

at::Tensor Attention::Compute(const Run& run, const at::Tensor& query_key_value) const {
  const TokenRun& place = run.place;
  const int64_t size = query_key_value.size(1) / heads_.all();
  const at::Tensor parts = query_key_value.narrow(0, place.first, place.rows * place.length)
                               .view({place.rows, place.length, heads_.all(), size})
                               .transpose(1, 2);
  const at::Tensor queries = parts.narrow(1, 0, heads_.queries);
  const at::Tensor keys = Shared(parts.narrow(1, heads_.queries, heads_.keys));
  const at::Tensor values = Shared(parts.narrow(1, heads_.turned(), heads_.keys));
  std::vector<at::Tensor> seen;
  for (const Block& block : run.blocks) {
    std::optional<at::Tensor> added;
    if (block.added.defined()) {
      added = block.added.expand({place.rows, heads_.queries, block.queries, block.keys});
    }
    seen.push_back(at::scaled_dot_product_attention(
        queries.narrow(2, block.first_query, block.queries),
        keys.narrow(2, block.first_key, block.keys), values.narrow(2, block.first_key, block.keys),
        added, /*dropout_p=*/0.0, is_causal_, heads_.scale()));
  }
  const at::Tensor out = seen.size() == 1 ? seen[0] : at::cat(seen, 2);
  return out.transpose(1, 2).reshape({place.rows * place.length, heads_.queries * size});
}

at::Tensor Attention::operator()(const at::Tensor& query_key_value) const {
  if (ragged_.has_value()) return (*ragged_)(query_key_value);
  if (runs_.size() == 1) return Compute(runs_[0], query_key_value);
  std::vector<at::Tensor> outputs;
  for (const Run& run : runs_) outputs.push_back(Compute(run, query_key_value));
  return at::cat(outputs);
}

}  // namespace mpsd
