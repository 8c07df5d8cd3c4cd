// Encoder: turns tokens into vectors.
#pragma once

#include "ATen/core/TensorBody.h"
#include "proto/link/census.h"
#include "worker/model/encoder/batch/device_batch.h"

namespace mpsd {

// The layers between a batch's token ids and a head. Made from a folder's weights while a model is
// loaded; owned by EncoderModel. Constant afterwards, so thread-safe: lanes run it at the same
// time. Functions may throw what libtorch throws.
class Encoder {
 public:
  virtual ~Encoder() = default;

  // [tokens, hidden]: a vector for each token of the batch, in its order, in the weights' type. On
  // the device.
  virtual at::Tensor Run(const DeviceBatch& batch) const = 0;

  // Counts the operators of one run.
  virtual void Count(Census* census) const = 0;
};

}  // namespace mpsd
