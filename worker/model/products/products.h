// Products: by what the linear maps of an encoder multiply.
#pragma once

namespace mpsd {

enum class Products {
  kTorch,        // libtorch, in the type of the weights
  kFloatPanels,  // FloatPanels: float on the cpu
  kInt8Panels,   // Int8Panels: the same with weights of 8 bits
};

}  // namespace mpsd
