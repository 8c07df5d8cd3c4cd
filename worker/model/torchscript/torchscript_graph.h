// torchscript_graph: reads and rewrites the graph of a TorchScript forward.
//
// While loading, between reading the archive and the first run (TorchScriptProgram::Load()):
//
//   TakeCensus       on the module as it was saved    how many lanes are safe; `mpsd inspect`
//   freeze           libtorch's own
//   RewriteLinear    on the frozen graph              on mps, or where the operator asks for it
//   MayWriteInputs   on what will run                 whether slabs can be lent out without a copy
//
// All three may throw what libtorch throws. Called on the main thread.
#pragma once

#include <memory>

#include "proto/link/census.h"
#include "torch/csrc/jit/api/module.h"
#include "torch/csrc/jit/ir/ir.h"

namespace mpsd {

// Counts the operators of the module's forward and of all functions that it calls, and the bytes of
// its parameters and buffers, each tensor once however many names it has. Called before freezing,
// which folds the weights into the graph.
Census TakeCensus(const torch::jit::Module& module);

// Whether forward may write into an input, always or for some data. If so, inputs must be copied,
// because slabs are shared. Errs on the side of true.
bool MayWriteInputs(const torch::jit::Module& module);

// Replaces each aten::linear of the graph by addmm (for matrices) or by matmul and add. They
// compute the same, without the kernel that is not thread-safe on mps. Returns how many there were.
// Called while loading, on a graph that nothing runs yet.
size_t RewriteLinear(const std::shared_ptr<torch::jit::Graph>& graph);

}  // namespace mpsd
