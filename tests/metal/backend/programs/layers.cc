#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <cstdint>

#include "tests/metal/backend/programs/case.h"

namespace mpsd::standin {
namespace {

at::Tensor Layer(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  return at::relu(at::linear(x, weight, bias));
}

// A layer of an encoder on [tokens, rows, kWidth].
class EncoderLayer {
 public:
  static constexpr int64_t kWidth = 32;
  static constexpr int64_t kHeads = 4;

  EncoderLayer() {
    for (at::Tensor* weight : {&in_, &out_, &up_, &down_})
      *weight = at::randn({kWidth, kWidth}) / 6;
    in_ = at::randn({3 * kWidth, kWidth}) / 6;
    scale_ = at::randn({kWidth});
    shift_ = at::randn({kWidth});
  }

  EncoderLayer On(const char* device) const {
    EncoderLayer other(*this);
    for (at::Tensor* weight :
         {&other.in_, &other.out_, &other.up_, &other.down_, &other.scale_, &other.shift_}) {
      *weight = weight->to(device);
    }
    return other;
  }

  at::Tensor Run(const at::Tensor& x) const {
    const at::Tensor attended = at::layer_norm(x + Attend(x), {kWidth}, scale_, shift_);
    const at::Tensor up = at::gelu(at::matmul(attended, up_.t()));
    return at::layer_norm(attended + at::matmul(up, down_.t()), {kWidth}, scale_, shift_);
  }

 private:
  static at::Tensor Heads(const at::Tensor& x) {
    return x.reshape({x.size(0), x.size(1) * kHeads, kWidth / kHeads}).transpose(0, 1);
  }

  at::Tensor Attend(const at::Tensor& x) const {
    const auto parts = at::matmul(x, in_.t()).chunk(3, -1);
    const at::Tensor scores = at::bmm(Heads(parts[0]), Heads(parts[1]).transpose(1, 2)) * 0.35;
    const at::Tensor mixed = at::bmm(at::softmax(scores, -1), Heads(parts[2]));
    return at::matmul(mixed.transpose(0, 1).reshape(x.sizes()), out_.t());
  }

  at::Tensor in_, out_, up_, down_, scale_, shift_;
};

}  // namespace

void Attention(const CaseSize& size, CaseCounts& counts) {
  const c10::InferenceMode inference;
  const EncoderLayer host_layer;
  const EncoderLayer device_layer = host_layer.On("mps");
  RunOnThreads(size, counts, [&](int, int round) {
    const c10::InferenceMode mode;
    const at::Tensor host = at::randn({3 + round % 4, 2, EncoderLayer::kWidth});
    const at::Tensor got = device_layer.Run(host.to("mps")).to("cpu");
    if (!at::allclose(got, host_layer.Run(host), 1e-3, 1e-4)) ++counts.wrong;
  });
}

void Convolutions(const CaseSize& size, CaseCounts& counts) {
  const c10::InferenceMode inference;
  const at::Tensor weight = at::randn({6, 2, 3, 3}) / 4;
  const at::Tensor bias = at::randn({6});
  const at::Tensor device_weight = weight.to("mps");
  const at::Tensor device_bias = bias.to("mps");
  RunOnThreads(size, counts, [&](int, int round) {
    const c10::InferenceMode mode;
    const at::Tensor host = at::randn({1 + round % 3, 4, 9, 9});
    const int64_t stride = 1 + round % 2;
    const at::Tensor wanted = at::conv2d(host, weight, bias, stride, 1, 1, /*groups=*/2);
    const at::Tensor got = at::conv2d(host.to("mps"), device_weight, device_bias, stride, 1, 1, 2);
    if (!at::allclose(got.to("cpu"), wanted, 1e-4, 1e-5)) ++counts.wrong;
  });
}

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
