// FloatData: the numbers of a float tensor, for products that are not libtorch's.
#pragma once

#include "ATen/core/TensorBody.h"

namespace mpsd {

// Newer compilers give const_data_ptr<float>() another symbol name than libtorch for macOS has.
// REQUIRES: the tensor is contiguous, of floats, on the cpu.
inline const float* FloatData(const at::Tensor& tensor) {
  return static_cast<const float*>(tensor.const_data_ptr());
}

}  // namespace mpsd
