// FloatData: the numbers of a float tensor, for products that are not libtorch's.
#pragma once

#include "ATen/core/TensorBody.h"

namespace mpsd {

// Avoids const_data_ptr<float>(): newer compilers give that template a different symbol name than
// libtorch for macOS has. REQUIRES: the tensor is contiguous, of floats, on the cpu.
inline const float* FloatData(const at::Tensor& tensor) {
  return static_cast<const float*>(tensor.const_data_ptr());
}

}  // namespace mpsd
