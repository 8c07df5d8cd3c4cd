#include "worker/model/torchscript/graph_precision.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "c10/util/BFloat16.h"
#include "c10/util/Half.h"
#include "torch/csrc/jit/api/compilation_unit.h"
#include "torch/csrc/jit/api/function_impl.h"
#include "torch/csrc/jit/frontend/resolver.h"
#include "torch/csrc/jit/ir/constants.h"
#include "torch/csrc/jit/ir/ir.h"
#include "torch/csrc/jit/passes/shape_analysis.h"
#include "worker/model/torchscript/graph_nodes.h"

namespace mpsd {
namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

// Boolean masks and indices pass unchanged.
constexpr char kCast[] = R"(
def mpsd_cast(x: Tensor, dtype: int) -> Tensor:
    if x.is_floating_point():
        return x.to(dtype)
    return x
)";

// Operands and result must have one type.
const absl::flat_hash_set<std::string>& Products() {
  static const auto* const kProducts =
      new absl::flat_hash_set<std::string>{"aten::linear",
                                           "aten::matmul",
                                           "aten::mm",
                                           "aten::bmm",
                                           "aten::mv",
                                           "aten::addmm",
                                           "aten::addbmm",
                                           "aten::baddbmm",
                                           "aten::addmv",
                                           "aten::dot",
                                           "aten::bilinear",
                                           "aten::conv1d",
                                           "aten::conv2d",
                                           "aten::conv3d",
                                           "aten::conv_transpose1d",
                                           "aten::conv_transpose2d",
                                           "aten::conv_transpose3d",
                                           "aten::_convolution",
                                           "aten::convolution",
                                           "aten::layer_norm",
                                           "aten::group_norm",
                                           "aten::instance_norm",
                                           "aten::batch_norm",
                                           "aten::rms_norm",
                                           "aten::prelu",
                                           "aten::scaled_dot_product_attention"};
  return *kProducts;
}

// Their result has their tensor's type.
const absl::flat_hash_set<std::string>& Passages() {
  static const auto* const kPassages =
      new absl::flat_hash_set<std::string>{"aten::view",
                                           "aten::reshape",
                                           "aten::flatten",
                                           "aten::transpose",
                                           "aten::permute",
                                           "aten::t",
                                           "aten::contiguous",
                                           "aten::unsqueeze",
                                           "aten::squeeze",
                                           "aten::select",
                                           "aten::slice",
                                           "aten::expand",
                                           "aten::dropout",
                                           "aten::dropout_",
                                           "aten::gelu",
                                           "aten::relu",
                                           "aten::relu_",
                                           "aten::silu",
                                           "aten::tanh",
                                           "aten::sigmoid",
                                           "aten::max_pool2d",
                                           "aten::avg_pool2d",
                                           "aten::adaptive_avg_pool2d"};
  return *kPassages;
}

std::string NameOf(const Node* node) { return node->kind().toQualString(); }

bool IsTensor(const Value* value) { return value->type()->isSubtypeOf(*c10::TensorType::get()); }

double LargestOf(c10::ScalarType type) {
  if (type == c10::ScalarType::Half) return std::numeric_limits<c10::Half>::max();
  if (type == c10::ScalarType::BFloat16) return std::numeric_limits<c10::BFloat16>::max();
  return std::numeric_limits<float>::max();
}

// Lives for one conversion.
class Conversion {
 public:
  Conversion(std::shared_ptr<Graph> graph, c10::ScalarType type)
      : graph_(std::move(graph)), type_(type) {
    unit_.define(std::nullopt, kCast, torch::jit::nativeResolver(), nullptr);
    cast_ = torch::jit::toGraphFunction(unit_.get_function("mpsd_cast")).graph();
  }

  absl::Status Run() {
    torch::jit::EraseShapeInformation(graph_);
    std::vector<Node*> constants;
    std::vector<Node*> products;
    std::vector<Node*> fills;
    std::string fault;
    VisitNodes(graph_->block(), [&](Node* node) {
      if (fault.empty()) fault = FaultOf(node);
      if (node->kind() == torch::jit::prim::Constant) constants.push_back(node);
      if (Products().contains(NameOf(node))) products.push_back(node);
      if (absl::StartsWith(NameOf(node), "aten::masked_fill")) fills.push_back(node);
    });
    for (Node* node : constants) {
      if (fault.empty()) fault = ConvertConstant(node);
    }
    if (!fault.empty()) return absl::InvalidArgumentError(fault);
    for (Node* node : products) CastOperands(node);
    for (Node* node : fills) BoundFill(node);
    return absl::OkStatus();
  }

 private:
  // Empty if the node can be converted.
  static std::string FaultOf(const Node* node) {
    if (node->kind() == torch::jit::prim::CallMethod ||
        node->kind() == torch::jit::prim::CallFunction) {
      return "it has a call that cannot be followed";
    }
    const std::string name = NameOf(node);
    if (!absl::StartsWith(name, "quantized::")) return "";
    return absl::StrCat("its operator ", name, " computes in whole numbers");
  }

  std::string ConvertConstant(Node* node) {
    if (!node->hasAttribute(torch::jit::attr::value)) return "";
    if (node->kindOf(torch::jit::attr::value) == torch::jit::AttributeKind::t) {
      const at::Tensor weight = node->t(torch::jit::attr::value);
      if (weight.is_complex()) return "it has complex weights";
      node->t_(torch::jit::attr::value, Converted(weight));
      return "";
    }
    if (node->kindOf(torch::jit::attr::value) != torch::jit::AttributeKind::ival) return "";
    const c10::IValue list = node->ival(torch::jit::attr::value);
    if (!list.isTensorList()) return "";
    c10::List<at::Tensor> converted;
    for (const at::Tensor& weight : list.toTensorVector()) converted.push_back(Converted(weight));
    node->ival_(torch::jit::attr::value, converted);
    return "";
  }

  // A weight with several names stays one weight.
  at::Tensor Converted(const at::Tensor& weight) {
    if (!weight.defined() || !weight.is_floating_point() || weight.dim() == 0) return weight;
    at::Tensor& converted = converted_[weight.unsafeGetTensorImpl()];
    if (!converted.defined()) converted = weight.to(type_);
    return converted;
  }

  static bool IsConverted(const Value* value) {
    const Node* node = value->node();
    while (Passages().contains(NameOf(node))) node = node->input(0)->node();
    return node->kind() == torch::jit::prim::Constant || Products().contains(NameOf(node));
  }

  void CastOperands(Node* node) {
    const torch::jit::WithInsertPoint here(node);
    for (size_t i = 0; i < node->inputs().size(); ++i) {
      Value* const operand = node->input(i);
      if (!IsTensor(operand) || IsConverted(operand)) continue;
      Graph& graph = *node->owningGraph();
      Value* const type = graph.insertConstant(static_cast<int64_t>(type_));
      node->replaceInput(i, torch::jit::insertGraph(graph, *cast_, {operand, type}).at(0));
    }
  }

  // Masks are filled with the smallest float, or with -1e9, which may be outside the type's range.
  void BoundFill(Node* node) {
    const std::optional<c10::IValue> fill = torch::jit::toIValue(node->input(2));
    if (!fill.has_value() || !fill->isDouble() || !std::isfinite(fill->toDouble())) return;
    const double most = LargestOf(type_);
    if (std::abs(fill->toDouble()) <= most) return;
    const torch::jit::WithInsertPoint here(node);
    node->replaceInput(
        2, node->owningGraph()->insertConstant(std::clamp(fill->toDouble(), -most, most)));
  }

  const std::shared_ptr<Graph> graph_;
  const c10::ScalarType type_;
  torch::jit::CompilationUnit unit_;
  std::shared_ptr<Graph> cast_;
  absl::flat_hash_map<const void*, at::Tensor> converted_;
};

}  // namespace

absl::Status ConvertPrecision(c10::ScalarType type, torch::jit::Module* module) {
  for (const auto& weight : module->named_parameters()) {
    if (!weight.value.is_floating_point()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("its weight '", weight.name, "' cannot be frozen"));
  }
  return Conversion(module->get_method("forward").graph(), type).Run();
}

}  // namespace mpsd
