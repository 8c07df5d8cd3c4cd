// DeviceBatch: a token batch on the device, for encoders and heads.
#pragma once

#include <cstdint>

#include "ATen/core/TensorBody.h"
#include "worker/model/encoder/batch/batch_numbers.h"
#include "worker/model/encoder/batch/token_batch.h"

namespace mpsd {

// One copy takes all numbers (NumbersOf()) to the device; layers and heads read views. Lives on the
// lane's thread.
class DeviceBatch {
 public:
  // Copies on the lane's stream. Borrows the batch until the run has ended. May throw what libtorch
  // throws, most often for lack of memory.
  DeviceBatch(const TokenBatch& batch, c10::Device device);

  // For a recorded run: `numbers` are NumbersOf() on a CUDA device for `rows` rows. host() has no
  // rows.
  DeviceBatch(const at::Tensor& numbers, int64_t rows, int64_t longest);

  const at::Tensor& ids() const { return ids_; }              // [tokens]
  const at::Tensor& positions() const { return positions_; }  // [tokens]
  const at::Tensor& types() const { return types_; }          // [tokens]; undefined: all 0
  const at::Tensor& firsts() const { return firsts_; }        // [rows], in the request's order
  const at::Tensor& lasts() const { return lasts_; }          // [rows], in the request's order
  const at::Tensor& places() const { return places_; }  // [rows]: the row's index in token order
  const at::Tensor& starts() const { return starts_; }  // [rows + 1] of INT32; only on CUDA

  c10::Device device() const { return ids_.device(); }
  int64_t longest() const { return longest_; }  // no row has more tokens

  // One call computes all rows (RaggedAttention).
  bool is_ragged() const { return starts_.defined() && host().kept.empty(); }

  // Runs, padding and empty rows.
  const TokenBatch& host() const { return *host_; }

 private:
  void Split(const at::Tensor& numbers, const BatchRoom& room);

  const TokenBatch* const host_;
  int64_t longest_ = 0;
  at::Tensor ids_;
  at::Tensor positions_;
  at::Tensor types_;
  at::Tensor firsts_;
  at::Tensor lasts_;
  at::Tensor places_;
  at::Tensor starts_;
};

}  // namespace mpsd
