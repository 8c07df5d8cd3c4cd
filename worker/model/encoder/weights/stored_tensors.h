// StoredTensors: the tensors of a file of weights by name, as the file's bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace mpsd {

inline constexpr size_t kMaxTensorsOfAFile = 100'000;
inline constexpr size_t kMaxTensorDims = 8;

// One tensor of a file. Borrows the file's bytes.
struct StoredTensor {
  std::string dtype;           // "F32", "BF16", …: the words of safetensors
  std::vector<int64_t> shape;  // at most kMaxTensorDims dims
  // From the first number to the last one, inside the file's bytes, of any alignment. As long as
  // shape × dtype; longer only if there are strides.
  absl::string_view bytes;
  // For each dim the distance of neighbours, in numbers. No two numbers of the tensor lie in one
  // place. Empty: the last dim's neighbours lie side by side, and so on.
  std::vector<int64_t> strides = {};
};

using StoredTensors = std::map<std::string, StoredTensor>;

}  // namespace mpsd
