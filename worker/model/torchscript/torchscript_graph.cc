#include "worker/model/torchscript/torchscript_graph.h"

#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "torch/csrc/jit/api/compilation_unit.h"
#include "torch/csrc/jit/api/function_impl.h"
#include "torch/csrc/jit/frontend/resolver.h"
#include "torch/csrc/jit/ir/alias_analysis.h"
#include "torch/csrc/jit/passes/dead_code_elimination.h"
#include "torch/csrc/jit/passes/inliner.h"
#include "worker/model/torch/scalar_types.h"

namespace mpsd {
namespace {

using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Node;

constexpr char kLinear[] = R"(
def mpsd_linear(x: Tensor, weight: Tensor, bias: Optional[Tensor]) -> Tensor:
    transposed = weight.t()
    if bias is None:
        return torch.matmul(x, transposed)
    if x.dim() == 2:
        return torch.addmm(bias, x, transposed)
    return torch.matmul(x, transposed) + bias
)";

template <typename Visit>
void VisitNodes(Block* block, const Visit& visit) {
  for (Node* node : block->nodes()) {
    visit(node);
    for (Block* inner : node->blocks()) VisitNodes(inner, visit);
  }
}

std::shared_ptr<Graph> InlinedForward(const torch::jit::Module& module) {
  std::shared_ptr<Graph> graph = module.get_method("forward").graph()->copy();
  torch::jit::Inline(*graph);
  return graph;
}

}  // namespace

Census TakeCensus(const torch::jit::Module& module) {
  Census census;
  census.known = true;
  const std::shared_ptr<Graph> graph = InlinedForward(module);
  VisitNodes(graph->block(), [&census](const Node* node) {
    const std::string name = node->kind().toQualString();
    if (absl::StartsWith(name, "aten::")) CountOperator(name, &census);
  });
  absl::flat_hash_set<const void*> seen;
  std::vector<bool> dtypes(kDataTypeCount, false);
  const auto count = [&](const at::Tensor& weight) {
    if (!weight.defined() || !seen.insert(weight.unsafeGetTensorImpl()).second) return;
    census.parameter_bytes += weight.nbytes();
    dtypes[static_cast<size_t>(FromScalarType(weight.scalar_type()))] = true;
  };
  for (const at::Tensor& weight : module.parameters()) count(weight);
  for (const at::Tensor& weight : module.buffers()) count(weight);
  for (size_t i = 1; i < dtypes.size(); ++i) {
    if (!dtypes[i]) continue;
    census.parameter_dtypes.emplace_back(DataTypeName(static_cast<DataType>(i)));
  }
  return census;
}

bool MayWriteInputs(const torch::jit::Module& module) {
  const std::shared_ptr<Graph> graph = InlinedForward(module);
  const torch::jit::AliasDb aliases(graph);
  for (const torch::jit::Value* input : graph->inputs().slice(1)) {
    if (aliases.hasWriters(input)) return true;
  }
  return false;
}

size_t RewriteLinear(const std::shared_ptr<Graph>& graph) {
  std::vector<Node*> found;
  VisitNodes(graph->block(), [&found](Node* node) {
    if (node->kind() == c10::aten::linear) found.push_back(node);
  });
  if (found.empty()) return 0;
  torch::jit::CompilationUnit unit;
  unit.define(std::nullopt, kLinear, torch::jit::nativeResolver(), nullptr);
  torch::jit::Function& replacement = unit.get_function("mpsd_linear");
  const std::shared_ptr<Graph> body = torch::jit::toGraphFunction(replacement).graph();
  for (Node* node : found) {
    const torch::jit::WithInsertPoint here(node);
    const std::vector<torch::jit::Value*> outputs =
        torch::jit::insertGraph(*graph, *body, node->inputs());
    outputs.at(0)->setType(node->output()->type());
    node->output()->replaceAllUsesWith(outputs.at(0));
    node->destroy();
  }
  torch::jit::EliminateDeadCode(graph);
  return found.size();
}

}  // namespace mpsd
