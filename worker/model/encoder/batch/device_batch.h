// DeviceBatch: a token batch on the device, for encoders and heads.
#pragma once

#include <cstdint>

#include "ATen/core/TensorBody.h"
#include "worker/model/encoder/batch/batch_numbers.h"
#include "worker/model/encoder/batch/token_batch.h"

namespace mpsd {

// One tensor on the host holds the numbers of all tokens and rows (NumbersOf()), so that one copy
// takes them to the device. Layers and heads read views of the copy.
//
// Lives on the lane's thread.
class DeviceBatch {
 public:
  // Copies the numbers on the lane's stream: the lane's next work sees them. Borrows the batch,
  // which the caller keeps until the run has ended. May throw what libtorch throws, most often for
  // lack of memory on the device.
  DeviceBatch(const TokenBatch& batch, c10::Device device);

  // For a recorded run: takes numbers that already are on a CUDA device, as NumbersOf() wrote them
  // for `rows` rows. No row has more tokens than `longest`. host() has no rows.
  DeviceBatch(const at::Tensor& numbers, int64_t rows, int64_t longest);

  const at::Tensor& ids() const { return ids_; }              // [tokens]
  const at::Tensor& positions() const { return positions_; }  // [tokens]
  const at::Tensor& types() const { return types_; }          // [tokens]; undefined: all are 0
  const at::Tensor& firsts() const { return firsts_; }        // [rows], in the request's order
  const at::Tensor& lasts() const { return lasts_; }          // [rows], likewise
  const at::Tensor& places() const { return places_; }  // [rows]: each row's index in token order
  const at::Tensor& starts() const { return starts_; }  // [rows + 1] of INT32; only on CUDA

  c10::Device device() const { return ids_.device(); }
  int64_t longest() const { return longest_; }  // no row has more tokens

  // Whether one call computes all rows, whatever their lengths (RaggedAttention).
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
