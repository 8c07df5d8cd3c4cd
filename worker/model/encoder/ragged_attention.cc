#include "worker/model/encoder/ragged_attention.h"

#include <optional>

#include "ATen/ops/_efficient_attention_forward.h"
#include "ATen/ops/_flash_attention_forward.h"
#include "proto/base/check.h"

namespace mpsd {
namespace {

constexpr int64_t kLargestFlashHead = 256;
constexpr int64_t kSeesBehindItself = 1;  // the kernel's name for that mask

}  // namespace

bool RaggedAttention::Serves(const EncoderConfig& config, c10::Device device, at::ScalarType type) {
  if (!device.is_cuda() || config.distance_buckets > 0) return false;
  if (type == at::kFloat) return config.rotary.reach == 0;
  const int64_t size = config.decoder.head_size > 0 ? config.decoder.head_size
                                                    : config.hidden_size / config.head_count;
  return size % 8 == 0 && size <= kLargestFlashHead;
}

RaggedAttention::RaggedAttention(const DeviceBatch& batch, const HeadLayout& heads,
                                 const Sight& sight)
    : heads_(heads), sight_(sight), longest_(batch.longest()), starts_(batch.starts()) {
  MPSD_CHECK(batch.is_ragged());
}

at::Tensor RaggedAttention::operator()(const at::Tensor& query_key_value) const {
  const int64_t tokens = query_key_value.size(0);
  const at::Tensor parts = query_key_value.view({tokens, heads_.all(), -1});
  const at::Tensor queries = parts.narrow(1, 0, heads_.queries);
  const at::Tensor keys = parts.narrow(1, heads_.queries, heads_.keys);
  const at::Tensor values = parts.narrow(1, heads_.turned(), heads_.keys);
  const bool is_whole = query_key_value.scalar_type() == at::kFloat;
  const at::Tensor seen =
      is_whole ? Efficient(queries, Shared(keys), Shared(values)) : Flash(queries, keys, values);
  return seen.reshape({tokens, -1});
}

at::Tensor RaggedAttention::Flash(const at::Tensor& queries, const at::Tensor& keys,
                                  const at::Tensor& values) const {
  std::optional<int64_t> reach;
  if (sight_.reach > 0) reach = sight_.reach;
  return std::get<0>(at::_flash_attention_forward(
      queries, keys, values, starts_, starts_, longest_, longest_, /*dropout_p=*/0.0,
      sight_.is_causal, /*return_debug_mask=*/false, heads_.scale(), reach, reach));
}

at::Tensor RaggedAttention::Efficient(const at::Tensor& queries, const at::Tensor& keys,
                                      const at::Tensor& values) const {
  MPSD_CHECK(sight_.reach == 0);
  return std::get<0>(at::_efficient_attention_forward(
      queries.unsqueeze(0), keys.unsqueeze(0), values.unsqueeze(0), /*bias=*/std::nullopt, starts_,
      starts_, longest_, longest_, /*dropout_p=*/0.0, sight_.is_causal ? kSeesBehindItself : 0,
      /*compute_log_sumexp=*/false, heads_.scale()));
}

// Repeats keys or values for the queries that share them.
at::Tensor RaggedAttention::Shared(const at::Tensor& keys) const {
  if (heads_.keys == heads_.queries) return keys;
  return keys.repeat_interleave(heads_.queries / heads_.keys, 1);
}

}  // namespace mpsd
