#include "tests/metal/backend/kernel_block.h"

#include <ATen/ATen.h>
#include <ATen/native/mps/MetalShaderLibrary.h>

namespace mpsd::standin {

void RunInKernelBlock(const std::function<void()>& work) {
  // The text from which the stand-in knows the kernel (graph/strided_copy.h).
  static auto* const library = new at::native::mps::MetalShaderLibrary("cast<float, float>");
  static const auto kernel = library->getKernelFunction("gather_kernel_1");
  kernel->runCommandBlock(work);
}

}  // namespace mpsd::standin
