// Products: what computes the linear maps of an encoder.
#pragma once

namespace mpsd {

enum class Products {
  kTorch,        // libtorch, in the type of the weights
  kFloatPanels,  // FloatPanels: float on the cpu
  kInt8Panels,   // 8-bit weights on the cpu
};

}  // namespace mpsd
