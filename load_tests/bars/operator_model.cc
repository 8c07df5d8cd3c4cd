#include "load_tests/bars/operator_model.h"

#include <cmath>
#include <utility>

#include "ATen/CPUGeneratorImpl.h"
#include "ATen/TensorOperators.h"
#include "ATen/ops/addmm.h"
#include "ATen/ops/conv2d.h"
#include "ATen/ops/gelu.h"
#include "ATen/ops/layer_norm.h"
#include "ATen/ops/linear.h"
#include "ATen/ops/matmul.h"
#include "ATen/ops/randn.h"
#include "ATen/ops/relu.h"
#include "ATen/ops/scaled_dot_product_attention.h"
#include "ATen/ops/softmax.h"
#include "absl/strings/str_cat.h"
#include "worker/model/foreign_errors.h"

namespace mpsd::load {
namespace {

constexpr uint64_t kWeightSeed = 20;
constexpr int64_t kHeads = 4;
constexpr int64_t kOnes[] = {1, 1};

ModelSpec SpecOfTasks() {
  ModelSpec spec;
  spec.inputs = {{"task", DataType::kInt64, {1}}, {"x", DataType::kFp32, {-1, -1, -1}}};
  spec.outputs = {{"y", DataType::kFp32, {-1, -1, -1}}};
  return spec;
}

// Each weight is followed by its bias, one number for each row.
std::vector<std::vector<int64_t>> WeightDims(const BarTask& task) {
  const int64_t width = task.dims[2];
  switch (task.kind) {
    case BarOperator::kLinear:
    case BarOperator::kAddmm:
      return {{width, width}};
    case BarOperator::kLayerNorm:
      return {{width}};
    case BarOperator::kSdpa:
    case BarOperator::kAttention:
      return {{3 * width, width}, {width, width}};
    case BarOperator::kMlp:
      return {{4 * width, width}, {width, 4 * width}};
    case BarOperator::kConv:
      return {{task.dims[1], task.dims[1], 3, 3}};
  }
  return {};
}

at::Tensor Addmm(const at::Tensor& x, const std::vector<at::Tensor>& weights) {
  return at::addmm(weights[1], x.flatten(0, 1), weights[0].t()).view(x.sizes());
}

at::Tensor WrittenOut(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value) {
  const double scale = 1 / std::sqrt(static_cast<double>(query.size(-1)));
  const at::Tensor scores = at::matmul(query, key.transpose(-2, -1)) * scale;
  return at::matmul(at::softmax(scores, -1), value);
}

at::Tensor Attention(const at::Tensor& x, const std::vector<at::Tensor>& weights, bool is_fused) {
  const at::Tensor projected = at::linear(x, weights[0], weights[1]);
  const std::vector<at::Tensor> parts =
      projected.view({x.size(0), x.size(1), 3, kHeads, x.size(2) / kHeads})
          .permute({2, 0, 3, 1, 4})
          .unbind();
  const at::Tensor mixed = is_fused ? at::scaled_dot_product_attention(parts[0], parts[1], parts[2])
                                    : WrittenOut(parts[0], parts[1], parts[2]);
  return at::linear(mixed.transpose(1, 2).reshape(x.sizes()), weights[2], weights[3]);
}

at::Tensor Mlp(const at::Tensor& x, const std::vector<at::Tensor>& weights) {
  const at::Tensor inner = at::gelu(at::linear(x, weights[0], weights[1]));
  return at::linear(inner, weights[2], weights[3]);
}

at::Tensor Conv(const at::Tensor& x, const std::vector<at::Tensor>& weights) {
  const auto side = static_cast<int64_t>(std::lround(std::sqrt(static_cast<double>(x.size(2)))));
  const at::Tensor image = x.view({x.size(0), x.size(1), side, side});
  return at::relu(at::conv2d(image, weights[0], weights[1], /*stride=*/at::IntArrayRef(kOnes),
                             /*padding=*/at::IntArrayRef(kOnes)))
      .reshape(x.sizes());
}

at::Tensor Apply(BarOperator kind, const at::Tensor& x, const std::vector<at::Tensor>& weights) {
  switch (kind) {
    case BarOperator::kLinear:
      return at::linear(x, weights[0], weights[1]);
    case BarOperator::kAddmm:
      return Addmm(x, weights);
    case BarOperator::kLayerNorm:
      return at::layer_norm(x, x.size(2), weights[0], weights[1]);
    case BarOperator::kSdpa:
      return Attention(x, weights, /*is_fused=*/true);
    case BarOperator::kAttention:
      return Attention(x, weights, /*is_fused=*/false);
    case BarOperator::kMlp:
      return Mlp(x, weights);
    case BarOperator::kConv:
      return Conv(x, weights);
  }
  return x;
}

}  // namespace

absl::StatusOr<std::unique_ptr<OperatorModel>> OperatorModel::Make(const LoadOrder& order,
                                                                   std::vector<BarTask> tasks) {
  absl::StatusOr<std::unique_ptr<TorchRuntime>> runtime = TorchRuntime::Create(order);
  if (!runtime.ok()) return runtime.status();
  std::unique_ptr<OperatorModel> model;
  const absl::Status status = CatchForeign([&] {
    model.reset(new OperatorModel(std::move(tasks), *std::move(runtime)));
    model->MakeWeights();
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return model;
}

OperatorModel::OperatorModel(std::vector<BarTask> tasks, std::unique_ptr<TorchRuntime> runtime)
    : TorchModel(SpecOfTasks(), Census(), std::move(runtime)), tasks_(std::move(tasks)) {}

// Scaled so that data keeps its magnitude through all layers.
void OperatorModel::MakeWeights() {
  const at::Generator generator = at::detail::createCPUGenerator(kWeightSeed);
  const c10::Device device = runtime().device();
  for (const BarTask& task : tasks_) {
    Weights& weights = weights_.emplace_back();
    for (const std::vector<int64_t>& dims : WeightDims(task)) {
      double fan_in = 1;
      for (size_t i = 1; i < dims.size(); ++i) fan_in *= static_cast<double>(dims[i]);
      weights.push_back((at::randn(dims, generator) / std::sqrt(fan_in)).to(device));
      weights.push_back((at::randn({dims[0]}, generator) * 0.1).to(device));
    }
  }
  SynchronizeDevice(device);
}

absl::Status OperatorModel::Forward(absl::Span<const InputTensor> inputs, uint32_t row_count,
                                    OutputSink* sink) const {
  const auto number = static_cast<size_t>(*static_cast<const int64_t*>(inputs[0].data));
  if (number >= tasks_.size()) {
    return absl::InternalError(absl::StrCat("there is no task ", number));
  }
  const absl::StatusOr<at::Tensor> x = runtime().Borrow(inputs[1], /*may_be_written=*/false);
  if (!x.ok()) return x.status();
  at::Tensor y = *x;
  for (int layer = 0; layer < tasks_[number].depth; ++layer) {
    y = Apply(tasks_[number].kind, y, weights_[number]);
  }
  return Emit(y, spec().outputs[0], row_count, sink);
}

}  // namespace mpsd::load
