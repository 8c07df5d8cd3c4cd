#include "worker/model/torchscript/torchscript_graph.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "ATen/core/dispatch/Dispatcher.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "torch/csrc/jit/api/compilation_unit.h"
#include "torch/csrc/jit/api/function_impl.h"
#include "torch/csrc/jit/frontend/resolver.h"
#include "torch/csrc/jit/ir/alias_analysis.h"
#include "torch/csrc/jit/ir/scope.h"
#include "torch/csrc/jit/passes/dead_code_elimination.h"
#include "torch/csrc/jit/passes/inliner.h"
#include "worker/model/torch/scalar_types.h"
#include "worker/model/torch/shared_weights.h"
#include "worker/model/torchscript/attention_pattern.h"
#include "worker/model/torchscript/graph_nodes.h"

namespace mpsd {
namespace {

using torch::jit::Graph;
using torch::jit::InlinedCallStack;
using torch::jit::InlinedCallStackPtr;
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

// libtorch's Inline() does not look into the graphs that a fork starts.
void InlineCalls(const std::shared_ptr<Graph>& graph) {
  torch::jit::Inline(*graph);
  std::vector<std::shared_ptr<Graph>> started;
  VisitNodes(graph->block(), [&started](const Node* node) {
    if (node->hasAttribute(torch::jit::attr::Subgraph)) {
      started.push_back(node->g(torch::jit::attr::Subgraph));
    }
  });
  for (const std::shared_ptr<Graph>& inner : started) InlineCalls(inner);
}

std::shared_ptr<Graph> InlinedForward(const torch::jit::Module& module) {
  std::shared_ptr<Graph> graph = module.get_method("forward").graph()->copy();
  InlineCalls(graph);
  return graph;
}

// A remaining call, such as of an interface's method, may do anything.
bool IsCall(const Node* node) {
  return node->kind() == torch::jit::prim::CallMethod ||
         node->kind() == torch::jit::prim::CallFunction;
}

// A composed operator has a kernel for each backend that its parts have.
bool HasKernel(const c10::OperatorHandle& op, c10::DispatchKey backend) {
  return op.hasKernelForDispatchKey(backend) ||
         op.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd) ||
         op.hasKernelForDispatchKey(c10::DispatchKey::CompositeExplicitAutograd);
}

// The same lines, all called by `caller`.
InlinedCallStackPtr CallsBy(torch::jit::Function* caller,
                            const std::vector<torch::jit::InlinedCallStackEntry>& calls) {
  InlinedCallStackPtr stack;
  for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
    const torch::jit::SourceRange& line = std::get<torch::jit::SourceRange>(*call);
    stack = stack ? c10::make_intrusive<InlinedCallStack>(stack, caller, line)
                  : c10::make_intrusive<InlinedCallStack>(caller, line);
  }
  return stack;
}

Census CountOperators(const torch::jit::Module& module) {
  Census census;
  census.known = true;
  const std::shared_ptr<Graph> graph = InlinedForward(module);
  VisitNodes(graph->block(), [&census](const Node* node) {
    const std::string name = node->kind().toQualString();
    if (absl::StartsWith(name, "aten::")) CountOperator(name, &census);
    if (IsCall(node)) census.known = false;
  });
  census.attention += CountWrittenOutAttention(graph->block());
  return census;
}

}  // namespace

Census TakeCensus(const torch::jit::Module& module) {
  Census census = CountOperators(module);
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

void RenewCallStacks(const torch::jit::Module& frozen) {
  const torch::jit::Method forward = frozen.get_method("forward");
  absl::flat_hash_map<const InlinedCallStack*, InlinedCallStackPtr> renewed;
  VisitNodes(forward.graph()->block(), [&](Node* node) {
    const std::optional<InlinedCallStackPtr> calls = node->callstack();
    if (!calls.has_value()) return;
    InlinedCallStackPtr& stack = renewed[calls->get()];
    if (!stack) stack = CallsBy(&forward.function(), (*calls)->vec());
    node->setCallStack(stack);
  });
}

void AddFrozen(const torch::jit::Module& frozen, Census* census) {
  const Census runs = CountOperators(frozen);
  census->known = runs.known;
  for (const auto count :
       {&Census::layer_norm, &Census::attention, &Census::linear, &Census::convolution,
        &Census::matmul, &Census::embedding, &Census::recurrent, &Census::contiguous}) {
    census->*count = std::max(census->*count, runs.*count);
  }
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
  InlineCalls(graph);
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
        torch::jit::insertGraph(*node->owningGraph(), *body, node->inputs());
    outputs.at(0)->setType(node->output()->type());
    node->output()->replaceAllUsesWith(outputs.at(0));
    node->destroy();
  }
  torch::jit::EliminateDeadCode(graph);
  return found.size();
}

std::vector<c10::Storage> ConstantsOf(const torch::jit::Module& module, c10::Device device) {
  std::vector<c10::Storage> constants;
  VisitNodes(module.get_method("forward").graph()->block(), [&](const Node* node) {
    const bool is_tensor = node->kind() == torch::jit::prim::Constant &&
                           node->hasAttribute(torch::jit::attr::value) &&
                           node->kindOf(torch::jit::attr::value) == torch::jit::AttributeKind::t;
    if (!is_tensor) return;
    const at::Tensor tensor = node->t(torch::jit::attr::value);
    if (tensor.defined() && tensor.has_storage()) AddWeight(tensor.storage(), device, &constants);
  });
  return constants;
}

std::vector<std::string> OperatorsWithoutKernel(const torch::jit::Module& module,
                                                c10::DispatchKey backend) {
  const std::shared_ptr<Graph> graph = InlinedForward(module);
  std::set<std::string> names;
  VisitNodes(graph->block(), [&names, backend](const Node* node) {
    const c10::FunctionSchema* schema = node->maybeSchema();
    if (schema == nullptr) return;
    const auto op = c10::Dispatcher::singleton().findOp(schema->operator_name());
    if (!op.has_value() || HasKernel(*op, backend)) return;
    names.insert(c10::toString(op->operator_name()));
  });
  return {names.begin(), names.end()};
}

}  // namespace mpsd
