// EncoderParts: the layers and the head of a folder, before they become a model.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ATen/core/TensorBody.h"
#include "absl/status/statusor.h"
#include "c10/core/Storage.h"
#include "proto/link/census.h"
#include "worker/model/encoder/encoder.h"
#include "worker/model/encoder/encoder_folder.h"
#include "worker/model/encoder/encoder_head.h"
#include "worker/model/products/products.h"

namespace mpsd {

// Owned by EncoderModel. Thread-safe, as its parts are.
struct EncoderParts {
  std::unique_ptr<const Encoder> encoder;
  std::unique_ptr<const EncoderHead> head;
  Census census;
  std::vector<c10::Storage> weights;  // on the device
};

// `folder` has the small files of `source`. Layers hold `type` and multiply by `products`; the head
// holds floats and multiplies by libtorch. INVALID_ARGUMENT and NOT_FOUND name the file or tensor.
// May throw what libtorch throws.
absl::StatusOr<EncoderParts> LoadEncoderParts(const ModelFolder& source,
                                              const EncoderFolder& folder, at::ScalarType type,
                                              Products products, c10::Device device);

}  // namespace mpsd
