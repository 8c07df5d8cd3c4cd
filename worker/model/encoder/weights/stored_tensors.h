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

// Borrows the file's bytes.
struct StoredTensor {
  std::string dtype;           // "F32", "BF16", …: the words of safetensors
  std::vector<int64_t> shape;  // at most kMaxTensorDims dims
  // The bytes from the first number to the last, of any alignment. They are longer than shape ×
  // dtype only with strides.
  absl::string_view bytes;
  // The distance of neighbours in each dim, in numbers. No two numbers lie in one place. Empty: the
  // numbers lie side by side.
  std::vector<int64_t> strides = {};
};

using StoredTensors = std::map<std::string, StoredTensor>;

}  // namespace mpsd
