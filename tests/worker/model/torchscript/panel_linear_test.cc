#include "worker/model/torchscript/panel_linear.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <exception>
#include <string>
#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/ops/allclose.h"
#include "ATen/ops/equal.h"
#include "ATen/ops/rand.h"
#include "torch/csrc/jit/api/module.h"
#include "worker/model/products/panels.h"
#include "worker/model/torchscript/graph_nodes.h"

namespace mpsd {
namespace {

using testing::HasSubstr;

constexpr int64_t kFrom = 37;
constexpr int64_t kTo = 21;  // one whole panel and a part of one

class PanelLinear : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasPanelProducts()) GTEST_SKIP() << "this processor has no such product";
  }

  // Frozen, with the weights w and b as constants of the graph.
  static torch::jit::Module Frozen(const std::string& forward,
                                   at::ScalarType type = at::ScalarType::Float) {
    torch::jit::Module module("M");
    module.register_parameter("w", at::rand({kTo, kFrom}, type) - 0.5, /*is_buffer=*/false);
    module.register_parameter("b", at::rand({kTo}, type), /*is_buffer=*/false);
    module.define(forward);
    module.eval();
    return torch::jit::freeze(module);
  }

  static at::Tensor Run(torch::jit::Module module, const at::Tensor& x) {
    return module.forward({x}).toTensor();
  }

  static size_t CountLinear(const torch::jit::Module& module) {
    size_t count = 0;
    VisitNodes(module.get_method("forward").graph()->block(),
               [&count](const torch::jit::Node* node) {
                 count += node->kind() == c10::aten::linear ? 1 : 0;
               });
    return count;
  }

  // Rewrites a copy, and holds its answers to those of the module.
  static void ExpectSameAnswers(const std::string& forward, size_t layers) {
    const torch::jit::Module module = Frozen(forward);
    const torch::jit::Module changed = module.clone();
    EXPECT_EQ(UsePanels(changed), layers);
    EXPECT_EQ(CountLinear(changed), 0u);
    const std::vector<std::vector<int64_t>> shapes = {
        {kFrom}, {1, kFrom}, {7, kFrom}, {3, 5, kFrom}, {0, kFrom}};
    for (const std::vector<int64_t>& shape : shapes) {
      const at::Tensor x = at::rand(shape) - 0.5;
      const at::Tensor have = Run(changed, x);
      const at::Tensor want = Run(module, x);
      EXPECT_EQ(have.sizes(), want.sizes());
      EXPECT_TRUE(at::allclose(have, want, 1e-5, 1e-5)) << "dims: " << shape.size();
    }
  }
};

constexpr char kLayer[] =
    "def forward(self, x: Tensor) -> Tensor:\n    return torch.linear(x, self.w, self.b)\n";

TEST_F(PanelLinear, AnswersAsLinearDoes) { ExpectSameAnswers(kLayer, 1); }

TEST_F(PanelLinear, NeedsNoBias) {
  ExpectSameAnswers("def forward(self, x: Tensor) -> Tensor:\n    return torch.linear(x, self.w)\n",
                    1);
}

TEST_F(PanelLinear, RewritesLayersThatShareTheirWeights) {
  ExpectSameAnswers(
      "def forward(self, x: Tensor) -> Tensor:\n"
      "    return torch.linear(x, self.w, self.b) + torch.linear(x + 1, self.w)\n",
      2);
}

TEST_F(PanelLinear, LooksIntoBranches) {
  ExpectSameAnswers(
      "def forward(self, x: Tensor) -> Tensor:\n"
      "    if x.dim() > 1:\n"
      "        return torch.linear(x, self.w, self.b)\n"
      "    return torch.linear(x, self.w)\n",
      2);
}

TEST_F(PanelLinear, ARowHasTheSameAnswerAloneAndBesideOthers) {
  const torch::jit::Module module = Frozen(kLayer);
  ASSERT_EQ(UsePanels(module), 1u);
  const at::Tensor x = at::rand({50, kFrom});
  const at::Tensor together = Run(module, x);
  for (int64_t row = 0; row < x.size(0); ++row) {
    EXPECT_TRUE(at::equal(together[row], Run(module, x[row]))) << row;
  }
}

TEST_F(PanelLinear, TakesInputsThatAreNotInOnePiece) {
  const torch::jit::Module module = Frozen(kLayer);
  const torch::jit::Module changed = module.clone();
  ASSERT_EQ(UsePanels(changed), 1u);
  const at::Tensor x = at::rand({kFrom, 6}).t();
  EXPECT_TRUE(at::allclose(Run(changed, x), Run(module, x), 1e-5, 1e-5));
}

TEST_F(PanelLinear, LeavesOtherWeightsAlone) {
  const torch::jit::Module of_doubles = Frozen(kLayer, at::ScalarType::Double);
  EXPECT_EQ(UsePanels(of_doubles), 0u);
  EXPECT_EQ(CountLinear(of_doubles), 1u);
  const torch::jit::Module of_inputs = Frozen(
      "def forward(self, x: Tensor) -> Tensor:\n    return torch.linear(x, self.w * x.sum())\n");
  EXPECT_EQ(UsePanels(of_inputs), 0u);
}

TEST_F(PanelLinear, SaysWhatDoesNotFit) {
  const torch::jit::Module module = Frozen(kLayer);
  ASSERT_EQ(UsePanels(module), 1u);
  const auto error_of = [&](const at::Tensor& x) -> std::string {
    try {
      Run(module, x);
    } catch (const std::exception& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(error_of(at::rand({2, kFrom + 1})),
              HasSubstr("linear: an input of shape [2, 38] for weights of shape [21, 37]"));
  EXPECT_THAT(error_of(at::rand({2, kFrom}, at::ScalarType::Double)),
              HasSubstr("linear: the input is Double, and the weights are Float"));
}

}  // namespace
}  // namespace mpsd
