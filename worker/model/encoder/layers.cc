#include "worker/model/encoder/layers.h"

#include <algorithm>
#include <utility>

#include "ATen/Parallel.h"
#include "ATen/TensorOperators.h"
#include "ATen/ops/addmm.h"
#include "ATen/ops/cat.h"
#include "ATen/ops/empty.h"
#include "ATen/ops/gelu.h"
#include "ATen/ops/layer_norm.h"
#include "ATen/ops/relu.h"
#include "ATen/ops/rms_norm.h"
#include "ATen/ops/sigmoid.h"
#include "ATen/ops/silu.h"
#include "ATen/ops/softmax.h"
#include "ATen/ops/tanh.h"
#include "ATen/ops/zeros.h"
#include "worker/model/torch/float_data.h"

namespace mpsd {
namespace {

// On a cpu oneDNN keeps code for the last 1,024 numbers of rows, some 50 MiB. With blocks oneDNN
// meets few numbers of rows.
at::Tensor Gelu(at::Tensor x) {
  if (!x.is_cpu() || x.size(0) <= kGeluRows) return at::gelu_(x);
  for (int64_t first = 0; first < x.size(0); first += kGeluRows) {
    at::Tensor block = x.narrow(0, first, std::min(kGeluRows, x.size(0) - first));
    at::gelu_(block);
  }
  return x;
}

}  // namespace

Linear::Linear(EncoderWeights* weights, const at::Tensor& weight, at::Tensor bias)
    : to_(weight.size(0)) {
  switch (weights->products()) {
    case Products::kTorch:
      weight_ = weight.t().contiguous();
      bias_ = std::move(bias);
      weights->Keep(weight_);
      return;
    case Products::kFloatPanels:
      float_panels_ = std::make_unique<const FloatPanels>(FloatData(weight), FloatData(bias), to_,
                                                          weight.size(1));
      return;
    case Products::kInt8Panels:
      int8_panels_ = std::make_unique<const Int8Panels>(FloatData(weight), FloatData(bias), to_,
                                                        weight.size(1));
      weights->CountAs(int8_panels_->bytes(), "INT8", weight.nbytes());
      return;
  }
}

Linear Linear::Take(EncoderWeights* weights, const std::string& name, int64_t from, int64_t to,
                    bool whole, bool has_bias) {
  const auto take = [&](const std::string& tensor, const std::vector<int64_t>& shape) {
    return whole ? weights->TakeWhole(tensor, shape) : weights->Take(tensor, shape);
  };
  const at::Tensor weight = take(name + ".weight", {to, from});
  if (has_bias) {
    at::Tensor bias = take(name + ".bias", {to});
    return weights->ok() ? Linear(weights, weight, std::move(bias)) : Linear();
  }
  return weights->ok() ? Linear(weights, weight, at::zeros({to}, weight.options())) : Linear();
}

Linear Linear::TakeJoined(EncoderWeights* weights, int64_t from,
                          const std::vector<std::pair<std::string, int64_t>>& parts,
                          bool has_bias) {
  std::vector<at::Tensor> matrices;
  std::vector<at::Tensor> biases;
  for (const auto& [name, to] : parts) {
    matrices.push_back(weights->Take(name + ".weight", {to, from}));
    if (has_bias) biases.push_back(weights->Take(name + ".bias", {to}));
  }
  if (!weights->ok()) return {};
  const at::Tensor matrix = at::cat(matrices);
  return Linear(weights, matrix,
                has_bias ? at::cat(biases) : at::zeros({matrix.size(0)}, matrix.options()));
}

at::Tensor Linear::operator()(const at::Tensor& x) const {
  if (weight_.defined()) return at::addmm(bias_, x, weight_);
  const at::Tensor rows = x.contiguous();
  at::Tensor y = at::empty({rows.size(0), to_}, rows.options());
  const auto multiply = [&](const auto& panels) {
    panels.Multiply(FloatData(rows), rows.size(0), at::get_num_threads(),
                    y.mutable_data_ptr<float>());
  };
  if (float_panels_ != nullptr) {
    multiply(*float_panels_);
  } else {
    multiply(*int8_panels_);
  }
  return y;
}

Norm Norm::Take(EncoderWeights* weights, const std::string& name, int64_t size, double epsilon,
                bool whole, bool has_bias) {
  const auto take = [&](const std::string& tensor) {
    return whole ? weights->TakeWhole(tensor, {size}) : weights->Take(tensor, {size});
  };
  Norm norm;
  norm.weight_ = take(name + ".weight");
  if (has_bias) norm.bias_ = take(name + ".bias");
  norm.epsilon_ = epsilon;
  return norm;
}

Norm Norm::TakeOfSquares(EncoderWeights* weights, const std::string& name, int64_t size,
                         double epsilon, bool counts_from_one) {
  const at::ScalarType type = weights->type();
  if (counts_from_one) weights->HandOutAs(at::kFloat);  // halves near 1 lose digits
  Norm norm = Take(weights, name, size, epsilon, /*whole=*/false, /*has_bias=*/false);
  weights->HandOutAs(type);
  if (counts_from_one && weights->ok()) {
    norm.weight_ = norm.weight_ + 1;
    weights->Keep(norm.weight_);
  }
  norm.is_of_squares_ = true;
  return norm;
}

at::Tensor Norm::operator()(const at::Tensor& x) const {
  if (is_of_squares_) {
    // at::rms_norm needs one type for both.
    const at::ScalarType type = weight_.scalar_type();
    return at::rms_norm(x.to(type), weight_.sizes(), weight_, epsilon_).to(x.scalar_type());
  }
  return at::layer_norm(x, weight_.sizes(), weight_, bias_, epsilon_);
}

at::Tensor Activate(Activation activation, at::Tensor x) {
  switch (activation) {
    case Activation::kIdentity:
      return x;
    case Activation::kGelu:
      return Gelu(std::move(x));
    case Activation::kGeluTanh:
      return at::gelu_(x, "tanh");
    case Activation::kRelu:
      return at::relu_(x);
    case Activation::kSilu:
      return at::silu_(x);
    case Activation::kTanh:
      return at::tanh_(x);
    case Activation::kSigmoid:
      return at::sigmoid_(x);
    case Activation::kSoftmax:
      return at::softmax(x, -1);
  }
  return x;
}

at::Tensor ActivateGate(Activation activation, const at::Tensor& x) {
  const std::vector<at::Tensor> halves = x.chunk(2, 1);
  return Activate(activation, halves[0].contiguous()).mul_(halves[1]);
}

}  // namespace mpsd
