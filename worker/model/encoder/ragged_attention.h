// RaggedAttention: the attention of rows of any lengths by one call, on devices that can.
#pragma once

#include <cstdint>

#include "ATen/core/TensorBody.h"
#include "worker/model/encoder/batch/device_batch.h"
#include "worker/model/encoder/config/encoder_config.h"
#include "worker/model/encoder/head_layout.h"

namespace mpsd {

// CUDA's kernels take the tokens of all rows one after another, and where each row starts. So any
// batch costs what its tokens cost, and as many launches as one text:
//
//   type            kernels             take
//   FP16, BF16      flash attention     every sight; heads of 8, 16, … 256 numbers
//   FP32            memory-efficient    every sight but one with a reach; all heads
//
// Neither kernel takes numbers to add to the scores, which MPNet has. Other batches are padded
// (TokenLayout::kPadded). Made for one batch and all layers. Lives on the lane's thread.
class RaggedAttention {
 public:
  // Whether devices of this kind can compute it in one call. A device may still be too old for
  // flash attention. Pure.
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
