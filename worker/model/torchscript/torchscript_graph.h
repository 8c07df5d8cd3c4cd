// What is read from, and changed in, the graph of a TorchScript forward.
#pragma once

#include <memory>

#include "proto/link/census.h"
#include "torch/csrc/jit/api/module.h"
#include "torch/csrc/jit/ir/ir.h"

namespace mpsd {

// Counts the operators of the module's forward, with all that it calls, and the bytes of its
// parameters and buffers. Before freezing, which folds weights into the graph.
Census TakeCensus(const torch::jit::Module& module);

// Whether forward may write into an input: always, or for some data only.
bool MayWriteInputs(const torch::jit::Module& module);

// Replaces each aten::linear of the graph by addmm for matrices, by matmul and add otherwise: what
// it computes, without the kernel that is not thread-safe on mps. Returns how many there were.
size_t RewriteLinear(const std::shared_ptr<torch::jit::Graph>& graph);

}  // namespace mpsd
