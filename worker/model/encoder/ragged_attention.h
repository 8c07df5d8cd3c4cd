// RaggedAttention: the attention of rows of any lengths by one call, on devices that can.
#pragma once

#include <cstdint>

#include "ATen/core/TensorBody.h"
#include "worker/model/encoder/batch/device_batch.h"
#include "worker/model/encoder/config/encoder_config.h"
#include "worker/model/encoder/head_layout.h"

namespace mpsd {

// CUDA's kernels take the tokens of all rows one after another, and where each row starts. So a
// batch of texts of any lengths costs what its tokens cost, and no more launches than one text:
//
//   type            kernels             take
//   FP16, BF16      flash attention     every sight; heads of 8, 16, … 256 numbers
//   FP32            memory-efficient    every sight but one with a reach; all heads
//
// Neither kernel takes numbers to add to the scores, which MPNet has. Batches that no kernel takes
// are padded (TokenLayout::kPadded). Plans one batch once, for all its layers. Lives on the lane's
// thread.
class RaggedAttention {
 public:
  // Whether a device of this kind can compute this family's attention in this type by one call. The
  // device may still be too old, because flash attention needs a newer one than the other kernel.
  // Pure.
  static bool Serves(const EncoderConfig& config, c10::Device device, at::ScalarType type);

  // REQUIRES: DeviceBatch::is_ragged().
  RaggedAttention(const DeviceBatch& batch, const HeadLayout& heads, const Sight& sight);

  // As Attention::operator().
  at::Tensor operator()(const at::Tensor& query_key_value) const;

 private:
  at::Tensor Flash(const at::Tensor& queries, const at::Tensor& keys,
                   const at::Tensor& values) const;
  at::Tensor Efficient(const at::Tensor& queries, const at::Tensor& keys,
                       const at::Tensor& values) const;
  at::Tensor Shared(const at::Tensor& keys) const;

  const HeadLayout heads_;
  const Sight sight_;
  const int64_t longest_;
  const at::Tensor starts_;
};

}  // namespace mpsd
