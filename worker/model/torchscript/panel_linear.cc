#include "worker/model/torchscript/panel_linear.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "ATen/Parallel.h"
#include "ATen/core/stack.h"
#include "ATen/ops/empty.h"
#include "ATen/ops/zeros.h"
#include "proto/base/check.h"
#include "torch/csrc/jit/ir/constants.h"
#include "torch/csrc/jit/ir/ir.h"
#include "torch/csrc/jit/runtime/custom_operator.h"
#include "worker/model/products/float_panels.h"
#include "worker/model/torch/float_data.h"
#include "worker/model/torchscript/graph_nodes.h"

namespace mpsd {
namespace {

using torch::jit::Node;
using torch::jit::Value;

constexpr char kName[] = "mpsd::panel_linear";
constexpr char kSchema[] =
    "mpsd::panel_linear(Tensor x, Tensor lines, Tensor bias, int to) -> Tensor";

// A layer's weights in the operator's form.
struct PackedLayer {
  at::Tensor lines;  // [panels, from, kPanelColumns]
  at::Tensor bias;   // [panels * kPanelColumns]
  int64_t to = 0;
};

bool IsFloatOnCpu(const at::Tensor& tensor) {
  return tensor.defined() && tensor.device().is_cpu() && tensor.layout() == at::kStrided &&
         tensor.scalar_type() == at::kFloat;
}

at::Tensor PanelLinear(const at::Tensor& x, const at::Tensor& lines, const at::Tensor& bias,
                       int64_t to) {
  const int64_t from = lines.size(1);
  TORCH_CHECK(x.scalar_type() == at::kFloat, "linear: the input is ", x.scalar_type(),
              ", and the weights are Float");
  TORCH_CHECK(x.dim() > 0 && x.size(-1) == from, "linear: an input of shape ", x.sizes(),
              " for weights of shape [", to, ", ", from, "]");
  const at::Tensor rows = x.contiguous();
  std::vector<int64_t> sizes = rows.sizes().vec();
  sizes.back() = to;
  at::Tensor y = at::empty(sizes, rows.options());
  const LentFloatPanels panels = {static_cast<const PanelLine<float>*>(lines.const_data_ptr()),
                                  FloatData(bias), to, from};
  panels.Multiply(FloatData(rows), rows.numel() / from, at::get_num_threads(),
                  static_cast<float*>(y.mutable_data_ptr()));
  return y;
}

void RegisterOnce() {
  static const torch::jit::RegisterOperators registered({torch::jit::Operator(
      kSchema,
      [](torch::jit::Stack& stack) {
        const int64_t to = torch::jit::pop(stack).toInt();
        const at::Tensor bias = torch::jit::pop(stack).toTensor();
        const at::Tensor lines = torch::jit::pop(stack).toTensor();
        const at::Tensor x = torch::jit::pop(stack).toTensor();
        torch::jit::push(stack, PanelLinear(x, lines, bias, to));
      },
      c10::AliasAnalysisKind::FROM_SCHEMA)});
}

// Nothing if the weights cannot lie in panels.
std::optional<PackedLayer> Pack(const Node& node) {
  const std::optional<c10::IValue> weight_value = torch::jit::toIValue(node.input(1));
  const std::optional<c10::IValue> bias_value = torch::jit::toIValue(node.input(2));
  if (!weight_value.has_value() || !weight_value->isTensor() || !bias_value.has_value()) return {};
  at::Tensor weight = weight_value->toTensor();
  if (!IsFloatOnCpu(weight) || weight.dim() != 2 || weight.numel() == 0) return {};
  weight = weight.detach().contiguous();
  PackedLayer layer;
  layer.to = weight.size(0);
  const int64_t from = weight.size(1);
  at::Tensor bias =
      bias_value->isTensor() ? bias_value->toTensor() : at::zeros({layer.to}, weight.options());
  if (!IsFloatOnCpu(bias) || bias.dim() != 1 || bias.size(0) != layer.to) return {};
  bias = bias.detach().contiguous();
  const int64_t panels = PanelCount(layer.to);
  layer.lines = at::empty({panels, from, kPanelColumns}, weight.options());
  layer.bias = at::empty({panels * kPanelColumns}, weight.options());
  MPSD_CHECK(
      reinterpret_cast<uintptr_t>(layer.lines.const_data_ptr()) % alignof(PanelLine<float>) == 0);
  PackPanels(FloatData(weight), FloatData(bias), layer.to, from,
             static_cast<PanelLine<float>*>(layer.lines.mutable_data_ptr()),
             static_cast<float*>(layer.bias.mutable_data_ptr()));
  return layer;
}

// The new node keeps the source location, which errors name.
void Replace(Node* node, const PackedLayer& layer) {
  torch::jit::Graph* const graph = node->owningGraph();
  const torch::jit::WithInsertPoint here(node);
  Node* const panels =
      graph->create(c10::Symbol::fromQualString(kName),
                    {node->input(0), graph->insertConstant(layer.lines),
                     graph->insertConstant(layer.bias), graph->insertConstant(layer.to)});
  panels->copyMetadata(node);
  panels->output()->setType(node->output()->type());
  graph->insertNode(panels);
  node->output()->replaceAllUsesWith(panels->output());
  const std::vector<Value*> inputs = node->inputs().slice(1).vec();
  node->destroy();
  for (Value* input : inputs) {
    if (!input->hasUses()) input->node()->destroy();
  }
}

}  // namespace

size_t UsePanels(const torch::jit::Module& module) {
  RegisterOnce();
  const std::shared_ptr<torch::jit::Graph> graph = module.get_method("forward").graph();
  std::vector<Node*> found;
  VisitNodes(graph->block(), [&found](Node* node) {
    if (node->kind() == c10::aten::linear) found.push_back(node);
  });
  size_t count = 0;
  for (Node* node : found) {
    const std::optional<PackedLayer> layer = Pack(*node);
    if (!layer.has_value()) continue;
    Replace(node, *layer);
    ++count;
  }
  return count;
}

}  // namespace mpsd
