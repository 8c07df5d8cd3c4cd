// FloatData: the numbers of a tensor of floats, for products that are not libtorch's.
#pragma once

#include "ATen/core/TensorBody.h"

namespace mpsd {

// Not const_data_ptr<float>(): newer compilers give that template another name than the one by
// which libtorch for macOS has it. REQUIRES: the tensor is contiguous, of floats, on the cpu.
inline const float* FloatData(const at::Tensor& tensor) {
  return static_cast<const float*>(tensor.const_data_ptr());
}

}  // namespace mpsd
