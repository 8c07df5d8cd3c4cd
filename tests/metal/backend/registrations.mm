// What a Linux libtorch leaves out because it is compiled without USE_MPS: operators that are none
// of the mps backend's own, and that ask there for a device's kernel.
#include <ATen/ATen.h>
#include <ATen/native/mps/Copy.h>
#include <torch/library.h>

namespace mpsd::standin {
namespace {

at::Tensor& Copy(at::Tensor& self, const at::Tensor& source, bool non_blocking) {
  return at::native::mps::mps_copy_(self, source, non_blocking);
}

TORCH_LIBRARY_IMPL(aten, MPS, library) { library.impl("copy_", &Copy); }

}  // namespace
}  // namespace mpsd::standin
