#include "worker/model/torchscript/torchscript_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <exception>
#include <memory>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "ATen/ops/allclose.h"
#include "ATen/ops/ones.h"
#include "ATen/ops/rand.h"
#include "torch/csrc/jit/api/compilation_unit.h"
#include "torch/csrc/jit/frontend/source_range.h"
#include "torch/csrc/jit/serialization/import_source.h"
#include "worker/model/torchscript/graph_nodes.h"

namespace mpsd {
namespace {

using testing::AllOf;
using testing::AnyOfArray;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

torch::jit::Module ModuleOf(const std::string& forward) {
  torch::jit::Module module("M");
  module.register_parameter("w", at::ones({3, 4}), /*is_buffer=*/false);
  module.register_parameter("b", at::ones({3}), /*is_buffer=*/false);
  module.register_buffer("counts", at::ones({5}, at::TensorOptions(at::kLong)));
  module.define(forward);
  return module;
}

std::string Text(const torch::jit::Graph& graph) {
  std::ostringstream text;
  graph.print(text, /*print_source_locations=*/false);
  return text.str();
}

constexpr char kEncoder[] =
    "def part(self, x: Tensor) -> Tensor:\n"
    "    return torch.layer_norm(torch.linear(x, self.w, self.b), [3])\n"
    "def forward(self, x: Tensor) -> Tensor:\n"
    "    y = self.part(x)\n"
    "    if y.size(0) > 1:\n"
    "        y = torch.scaled_dot_product_attention(y, y, y)\n"
    "    return torch.matmul(y, self.w) + float(self.counts.size(0))\n";

TEST(TorchScriptGraph, TheCensusLooksIntoCallsAndBranches) {
  const Census census = TakeCensus(ModuleOf(kEncoder));
  EXPECT_TRUE(census.known);
  EXPECT_EQ(census.layer_norm, 1u);
  EXPECT_EQ(census.linear, 1u);
  EXPECT_EQ(census.attention, 1u);
  EXPECT_EQ(census.matmul, 1u);
  EXPECT_GE(census.operators, 5u);
  EXPECT_EQ(census.parameter_bytes, (12 + 3) * 4 + 5 * 8u);
  EXPECT_THAT(census.parameter_dtypes, ElementsAre("INT64", "FP32"));
}

// Its forward starts another one that calls part(), and waits for it, as torch.jit.fork is saved.
torch::jit::Module Forked() {
  torch::jit::Module module = ModuleOf(
      "def part(self, x: Tensor) -> Tensor:\n"
      "    return torch.layer_norm(torch.linear(x, self.w, self.b), [3])\n"
      "def forward(self, x: Tensor) -> Tensor:\n    return self.part(x)\n");
  const std::shared_ptr<torch::jit::Graph> graph = module.get_method("forward").graph();
  const std::shared_ptr<torch::jit::Graph> started = graph->copy();
  graph->eraseOutput(0);
  while (graph->nodes().begin() != graph->nodes().end()) graph->nodes().rbegin()->destroy();
  torch::jit::Node* const fork =
      graph->insertNode(graph->create(torch::jit::prim::fork, graph->inputs(), 1));
  fork->g_(torch::jit::attr::Subgraph, started);
  fork->output()->setType(c10::FutureType::create(c10::TensorType::get()));
  torch::jit::Value* const waited = graph->insert(c10::aten::wait, {fork->output()});
  graph->registerOutput(waited->setType(c10::TensorType::get()));
  return module;
}

TEST(TorchScriptGraph, TheCensusLooksIntoWhatIsForked) {
  const Census census = TakeCensus(Forked());
  EXPECT_TRUE(census.known);
  EXPECT_EQ(census.layer_norm, 1u);
  EXPECT_EQ(census.linear, 1u);
}

// No libtorch that mpsd is built with has kernels for XLA, but each has a fallback that is none.
TEST(TorchScriptGraph, OperatorsWithoutAKernelAreNamedOnce) {
  const torch::jit::Module module = ModuleOf(
      "def forward(self, x: Tensor) -> Tensor:\n"
      "    y = torch.relu(x)\n"
      "    if y.size(0) > 1:\n"
      "        y = torch.relu(torch.bmm(y, y))\n"
      "    return torch.linear(y, self.w)\n");
  EXPECT_THAT(OperatorsWithoutKernel(module, c10::DispatchKey::XLA),
              ElementsAre("aten::bmm", "aten::relu"));
  EXPECT_THAT(OperatorsWithoutKernel(module, c10::DispatchKey::CPU), ElementsAre());
}

TEST(TorchScriptGraph, TheCensusCountsAttentionThatIsWrittenOut) {
  const Census census =
      TakeCensus(ModuleOf("def forward(self, x: Tensor) -> Tensor:\n"
                          "    p = torch.softmax(torch.matmul(x, x.transpose(0, 1)), -1)\n"
                          "    return torch.matmul(p, x).contiguous()\n"));
  EXPECT_EQ(census.attention, 1u);
  EXPECT_EQ(census.matmul, 2u);
  EXPECT_EQ(census.contiguous, 1u);
}

// A module whose layer is known by its interface alone, as torch.jit.script writes it.
constexpr char kInterface[] = R"(
class I(ModuleInterface):
  def forward(self,
    x: Tensor) -> Tensor:
    pass
class L(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool
  def forward(self: __torch__.L,
    x: Tensor) -> Tensor:
    return torch.layer_norm(x, [4])
class M(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool
  layer : __torch__.I
  def forward(self: __torch__.M,
    x: Tensor) -> Tensor:
    layer = self.layer
    return (layer).forward(x, )
)";

torch::jit::Module ModuleWithInterface() {
  const auto unit = std::make_shared<torch::jit::CompilationUnit>();
  const std::vector<at::IValue> constants;
  const auto source = std::make_shared<torch::jit::Source>(std::string(kInterface));
  torch::jit::SourceImporter importer(
      unit, &constants, [&](const std::string&) { return source; }, /*version=*/10);
  torch::jit::Module layer(unit, importer.loadType({"__torch__.L"})->expect<c10::ClassType>());
  torch::jit::Module module(unit, importer.loadType({"__torch__.M"})->expect<c10::ClassType>());
  layer.setattr("training", false);
  module.setattr("training", false);
  module.setattr("layer", layer._ivalue());
  return module;
}

TEST(TorchScriptGraph, ACallThatCannotBeFollowedLeavesTheCensusUnknownUntilFreezingFollowsIt) {
  const torch::jit::Module module = ModuleWithInterface();
  Census census = TakeCensus(module);
  EXPECT_FALSE(census.known);
  EXPECT_EQ(census.layer_norm, 0u);
  AddFrozen(module, &census);
  EXPECT_FALSE(census.known) << "a module that could not be frozen";
  AddFrozen(torch::jit::freeze(module), &census);
  EXPECT_TRUE(census.known);
  EXPECT_EQ(census.layer_norm, 1u);
}

TEST(TorchScriptGraph, FreezingTakesNothingFromTheCensus) {
  torch::jit::Module module = ModuleOf(kEncoder);
  module.eval();
  const Census saved = TakeCensus(module);
  Census census = saved;
  AddFrozen(torch::jit::freeze(module), &census);
  EXPECT_EQ(census, saved);
}

// The functions that the nodes say were called, alive or deleted. Reads none of them.
std::vector<torch::jit::Function*> Callers(const torch::jit::Module& module) {
  std::vector<torch::jit::Function*> callers;
  VisitNodes(module.get_method("forward").graph()->block(), [&](const torch::jit::Node* node) {
    if (!node->callstack().has_value()) return;
    for (const auto& call : (*node->callstack())->vec()) callers.push_back(std::get<0>(call));
  });
  return callers;
}

TEST(TorchScriptGraph, RenewedCallStacksPointToFunctionsThatAreThere) {
  torch::jit::Module module = ModuleOf(
      "def inner(self, x: Tensor) -> Tensor:\n    return x.view([3, 5])\n"
      "def outer(self, x: Tensor) -> Tensor:\n    return self.inner(x) + 1\n"
      "def forward(self, x: Tensor) -> Tensor:\n    return self.outer(x)\n");
  module.eval();
  torch::jit::Module frozen = torch::jit::freeze(module);
  const size_t calls = Callers(frozen).size();
  RenewCallStacks(frozen);
  EXPECT_GE(calls, 3u);
  EXPECT_EQ(Callers(frozen).size(), calls);
  EXPECT_THAT(Callers(frozen),
              Each(AnyOfArray(frozen._ivalue()->compilation_unit()->get_functions())));
  try {
    frozen.forward({at::ones({2, 2})});
    FAIL() << "a view of 4 numbers as 15";
  } catch (const std::exception& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("self.outer(x)"), HasSubstr("self.inner(x)"),
                                    HasSubstr("x.view([3, 5])")));
  }
}

TEST(TorchScriptGraph, AWeightThatIsUsedTwiceCountsOnce) {
  torch::jit::Module module = ModuleOf("def forward(self, x: Tensor) -> Tensor:\n    return x\n");
  const uint64_t bytes = TakeCensus(module).parameter_bytes;
  module.register_parameter("tied", module.attr("w").toTensor(), /*is_buffer=*/false);
  EXPECT_EQ(TakeCensus(module).parameter_bytes, bytes);
}

TEST(TorchScriptGraph, EveryLinearIsRewritten) {
  const torch::jit::Module module = ModuleOf(
      "def forward(self, x: Tensor) -> Tensor:\n"
      "    if x.size(0) > 1:\n        x = torch.linear(x, self.w, self.b)\n"
      "    else:\n        x = torch.linear(x, self.w)\n    return x\n");
  const std::shared_ptr<torch::jit::Graph> graph = module.get_method("forward").graph();
  EXPECT_THAT(Text(*graph), HasSubstr("aten::linear"));
  EXPECT_EQ(RewriteLinear(graph), 2u);
  EXPECT_THAT(Text(*graph), Not(HasSubstr("aten::linear")));
  EXPECT_THAT(Text(*graph), HasSubstr("aten::addmm"));
  graph->lint();
  EXPECT_EQ(RewriteLinear(graph), 0u);
  const at::Tensor x = at::ones({2, 4});
  torch::jit::Module runnable = module;
  EXPECT_EQ(runnable.forward({x}).toTensor().sum().item<float>(), 2 * 3 * 5);
}

TEST(TorchScriptGraph, LinearIsRewrittenInWhatIsForked) {
  torch::jit::Module module = Forked();
  const at::Tensor x = at::rand({2, 4});
  const at::Tensor before = module.forward({x}).toTensor();
  torch::jit::Module fresh = Forked();
  const std::shared_ptr<torch::jit::Graph> graph = fresh.get_method("forward").graph();
  EXPECT_EQ(RewriteLinear(graph), 1u);
  EXPECT_EQ(TakeCensus(fresh).linear, 1u) << "addmm";
  EXPECT_EQ(RewriteLinear(graph), 0u);
  graph->lint();
  EXPECT_TRUE(at::allclose(fresh.forward({x}).toTensor(), before));
}

TEST(TorchScriptGraph, WritesToInputsAreFound) {
  EXPECT_FALSE(MayWriteInputs(
      ModuleOf("def forward(self, x: Tensor) -> Tensor:\n    y = x + 1\n    y.add_(1)\n"
               "    return y\n")));
  EXPECT_TRUE(
      MayWriteInputs(ModuleOf("def forward(self, x: Tensor) -> Tensor:\n    return x.relu_()\n")));
  EXPECT_TRUE(
      MayWriteInputs(ModuleOf("def part(self, x: Tensor):\n    x[0] = 1.0\n"
                              "def forward(self, x: Tensor) -> Tensor:\n    if x.dim() > 1:\n"
                              "        self.part(x.view(-1))\n    return x\n")));
}

}  // namespace
}  // namespace mpsd
