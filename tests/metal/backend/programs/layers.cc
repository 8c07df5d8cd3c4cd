#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include "tests/metal/backend/programs/case.h"

namespace mpsd::standin {
namespace {

at::Tensor Layer(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  return at::relu(at::linear(x, weight, bias));
}

}  // namespace

void Layers(const CaseSize& size, CaseCounts& counts) {
  const c10::InferenceMode inference;
  const at::Tensor weight = at::randn({48, 48}) / 7;
  const at::Tensor bias = at::randn({48});
  const at::Tensor device_weight = weight.to("mps");
  const at::Tensor device_bias = bias.to("mps");
  RunOnThreads(size, counts, [&](int, int round) {
    const c10::InferenceMode mode;
    const at::Tensor host = at::randn({1 + round % 5, 48});
    const at::Tensor wanted = Layer(Layer(host, weight, bias), weight, bias);
    const at::Tensor device = host.to("mps");
    const at::Tensor got =
        Layer(Layer(device, device_weight, device_bias), device_weight, device_bias);
    if (!at::allclose(got.to("cpu"), wanted, 1e-4, 1e-5)) ++counts.wrong;
  });
}

void LayerNorms(const CaseSize& size, CaseCounts& counts) {
  const c10::InferenceMode inference;
  const at::Tensor gamma = at::randn({48});
  const at::Tensor beta = at::randn({48});
  const at::Tensor device_gamma = gamma.to("mps");
  const at::Tensor device_beta = beta.to("mps");
  RunOnThreads(size, counts, [&](int, int round) {
    const c10::InferenceMode mode;
    const at::Tensor host = at::randn({1 + round % 5, 48});
    const at::Tensor wanted = at::layer_norm(host, {48}, gamma, beta);
    const at::Tensor got = at::layer_norm(host.to("mps"), {48}, device_gamma, device_beta);
    if (!at::allclose(got.to("cpu"), wanted, 1e-4, 1e-5)) ++counts.wrong;
  });
}

}  // namespace mpsd::standin
