// VisitNodes: visits every node of a TorchScript graph, at any depth.
#pragma once

#include "torch/csrc/jit/ir/ir.h"

namespace mpsd {

// Visits the block's nodes, blocks inside them (branches and loops), and graphs that they carry
// (torch.jit.fork). A node comes before its inner nodes. `visit` changes nothing.
// Thread-compatible, like the graph.
template <typename Visit>
void VisitNodes(torch::jit::Block* block, const Visit& visit) {
  for (torch::jit::Node* node : block->nodes()) {
    visit(node);
    for (torch::jit::Block* inner : node->blocks()) VisitNodes(inner, visit);
    if (node->hasAttribute(torch::jit::attr::Subgraph)) {
      VisitNodes(node->g(torch::jit::attr::Subgraph)->block(), visit);
    }
  }
}

}  // namespace mpsd
