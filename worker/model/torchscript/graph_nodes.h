// VisitNodes: every node of a TorchScript graph, wherever it lies.
#pragma once

#include "torch/csrc/jit/ir/ir.h"

namespace mpsd {

// Calls `visit` with the nodes of the block, of the blocks inside its nodes (branches and loops),
// and of the graphs that its nodes carry: what torch.jit.fork starts is such a graph. A node comes
// before what lies inside it. `visit` changes nothing. Thread-compatible, like the graph.
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
