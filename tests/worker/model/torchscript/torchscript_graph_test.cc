#include "worker/model/torchscript/torchscript_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "ATen/ops/ones.h"

namespace mpsd {
namespace {

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
