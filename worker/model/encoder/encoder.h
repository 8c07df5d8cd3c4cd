// Encoder: turns tokens into vectors.
#pragma once

#include "ATen/core/TensorBody.h"
#include "proto/link/census.h"
#include "worker/model/encoder/batch/device_batch.h"

namespace mpsd {

// The layers below a head. Owned by EncoderModel. Constant, so thread-safe: lanes run it at the
// same time. Functions may throw what libtorch throws.
class Encoder {
 public:
  virtual ~Encoder() = default;

  // [tokens, hidden] in the batch's order and the weights' type, on the device.
  virtual at::Tensor Run(const DeviceBatch& batch) const = 0;

  // The operators of one run.
  virtual void Count(Census* census) const = 0;
};

}  // namespace mpsd
