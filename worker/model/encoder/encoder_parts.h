// EncoderParts: the layers and the head of a folder, before they are a model.
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

// Made while a model is loaded; owned by EncoderModel. Thread-safe, as its parts are.
struct EncoderParts {
  std::unique_ptr<const Encoder> encoder;
  std::unique_ptr<const EncoderHead> head;
  Census census;
  std::vector<c10::Storage> weights;  // on the device
};

// Of the weights in the folder `path`, whose small files `folder` has: the layers of the family in
// numbers of `type`, multiplied by `products`, the head in floats and by libtorch. INVALID_ARGUMENT
// and NOT_FOUND name the file or the tensor at fault. May throw what libtorch throws.
absl::StatusOr<EncoderParts> LoadEncoderParts(const std::string& path, const EncoderFolder& folder,
                                              at::ScalarType type, Products products,
                                              c10::Device device);

}  // namespace mpsd
