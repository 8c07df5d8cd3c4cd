#include "worker/model/torchscript/attention_pattern.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "torch/csrc/jit/api/module.h"
#include "torch/csrc/jit/passes/inliner.h"

namespace mpsd {
namespace {

// Matches in a forward with the three tensors q, k and v.
uint32_t Count(const std::string& body) {
  torch::jit::Module module("M");
  module.define("def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:\n" + body);
  const std::shared_ptr<torch::jit::Graph> graph = module.get_method("forward").graph()->copy();
  torch::jit::Inline(*graph);
  return CountWrittenOutAttention(graph->block());
}

TEST(AttentionPattern, IsASoftmaxBetweenTwoProducts) {
  EXPECT_EQ(Count("    scores = torch.matmul(q, k.transpose(-2, -1)) / 8.0\n"
                  "    return torch.matmul(torch.softmax(scores, -1), v)\n"),
            1u);
  EXPECT_EQ(Count("    return torch.bmm(torch.softmax(torch.baddbmm(v, q, k), -1), v)\n"), 1u);
  EXPECT_EQ(Count("    scores = torch.einsum('bid,bjd->bij', [q, k])\n"
                  "    return torch.einsum('bij,bjd->bid', [torch.softmax(scores, -1), v])\n"),
            1u);
}

TEST(AttentionPattern, ReachesThroughMasksCopiesAndDropout) {
  EXPECT_EQ(Count("    scores = torch.matmul(q, k) * 0.125 + v\n"
                  "    scores = torch.masked_fill(scores, v > 0.0, -1e9)\n"
                  "    p = torch.dropout(torch.softmax(scores, -1), 0.1, False)\n"
                  "    return torch.matmul(p.contiguous().view(p.size(0), -1), v)\n"),
            1u);
}

TEST(AttentionPattern, ReachesIntoAndOutOfBranchesAndLoops) {
  EXPECT_EQ(Count("    scores = torch.matmul(q, k)\n"
                  "    if q.size(0) > 1:\n        p = torch.softmax(scores, -1)\n"
                  "    else:\n        p = torch.softmax(scores + v, -1)\n"
                  "    return torch.matmul(p, v)\n"),
            1u)
      << "two branches of one attention";
  EXPECT_EQ(Count("    for i in range(4):\n"
                  "        q = torch.matmul(torch.softmax(torch.matmul(q, k), -1), v)\n"
                  "    return q\n"),
            1u);
}

TEST(AttentionPattern, FollowsWhatBranchesAndLoopsHandOn) {
  EXPECT_EQ(Count("    if q.size(0) > 1:\n        scores = torch.matmul(q, k)\n"
                  "    else:\n        scores = torch.zeros_like(v)\n"
                  "    return torch.matmul(torch.softmax(scores, -1), v)\n"),
            1u)
      << "scores out of a branch";
  EXPECT_EQ(Count("    scores = torch.matmul(q, k)\n"
                  "    for i in range(2):\n        scores = torch.softmax(scores, -1) + v\n"
                  "    return torch.matmul(scores, v)\n"),
            1u)
      << "scores into a loop";
  EXPECT_EQ(Count("    p = torch.softmax(torch.matmul(q, k), -1)\n"
                  "    for i in range(2):\n        q = torch.matmul(p, v)\n        p = p * 2.0\n"
                  "    return q\n"),
            1u)
      << "the softmax into a loop";
}

TEST(AttentionPattern, EachCounts) {
  const std::string layer = "    q = torch.matmul(torch.softmax(torch.matmul(q, k), -1), v)\n";
  EXPECT_EQ(Count(layer + layer + layer + "    return q\n"), 3u);
}

TEST(AttentionPattern, OtherSoftmaxesDoNotCount) {
  EXPECT_EQ(Count("    return torch.softmax(torch.matmul(q, k), -1)\n"), 0u) << "a classifier";
  EXPECT_EQ(Count("    return torch.matmul(torch.softmax(q, -1), v)\n"), 0u) << "of an input";
  EXPECT_EQ(Count("    gates = torch.softmax(torch.linear(torch.matmul(q, k), v), -1)\n"
                  "    return torch.matmul(gates, v)\n"),
            0u)
      << "a choice of experts, by a layer with weights";
  EXPECT_EQ(Count("    return torch.matmul(torch.matmul(q, k), v)\n"), 0u);
}

}  // namespace
}  // namespace mpsd
