// What a Linux libtorch leaves out because it is compiled without USE_MPS: operators that are none
// of the mps backend's own, and that ask there for a device's kernel.
#include <ATen/ATen.h>
#include <ATen/native/mps/Copy.h>
#include <ATen/ops/_mps_convolution.h>
#include <torch/library.h>

namespace mpsd::standin {
namespace {

at::Tensor& Copy(at::Tensor& self, const at::Tensor& source, bool non_blocking) {
  return at::native::mps::mps_copy_(self, source, non_blocking);
}

// libtorch asks for it where a device has no convolution of its own that it knows of.
at::Tensor Convolution(const at::Tensor& input, const at::Tensor& weight,
                       const std::optional<at::Tensor>& bias, c10::SymIntArrayRef stride,
                       c10::SymIntArrayRef padding, c10::SymIntArrayRef dilation,
                       bool /*transposed*/, c10::SymIntArrayRef /*output_padding*/,
                       c10::SymInt groups) {
  return at::_mps_convolution_symint(input, weight, bias, padding, stride, dilation, groups);
}

// libtorch's choice of an attention knows no mps there. So attention is written out.
at::Tensor Attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                     const std::optional<at::Tensor>& mask, double dropout, bool is_causal,
                     std::optional<double> scale, bool is_grouped) {
  return std::get<0>(at::_scaled_dot_product_attention_math(
      query, key, value, mask, dropout, is_causal, std::nullopt, scale, is_grouped));
}

// Attention that is written out masks its softmax by an operator without a kernel for mps here. The
// backend's own attention has a plain softmax, too.
at::Tensor Softmax(const at::Tensor& self, int64_t dim, std::optional<at::ScalarType> type) {
  return at::softmax(self, dim, type);
}

TORCH_LIBRARY_IMPL(aten, MPS, library) {
  library.impl("copy_", &Copy);
  library.impl("convolution_overrideable", &Convolution);
  library.impl("scaled_dot_product_attention", &Attention);
  library.impl("_safe_softmax", &Softmax);
}

}  // namespace
}  // namespace mpsd::standin
