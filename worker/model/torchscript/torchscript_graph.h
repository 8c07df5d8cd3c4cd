// torchscript_graph: reads and rewrites the graph of a TorchScript forward.
//
// While loading, between reading the archive and the first run (TorchScriptProgram::Load()):
//
//   TakeCensus              on the module as saved    how many lanes are safe; `mpsd inspect`
//   freeze                  libtorch's own
//   RenewCallStacks         on the frozen graph       an error of forward is told, not a crash
//   AddFrozen               on the frozen module      the same, where freezing shows more
//   RewriteLinear           on the frozen graph       on mps, or where the operator asks for it
//   OperatorsWithoutKernel  on what will run          on mps, for `mpsd inspect` and the log
//   MayWriteInputs          on what will run          whether slabs can be lent without a copy
//   ConstantsOf             on what will run          the weights that workers share, on cuda
//
// All may throw what libtorch throws. Called on the main thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "c10/core/Storage.h"
#include "proto/link/census.h"
#include "torch/csrc/jit/api/module.h"
#include "torch/csrc/jit/ir/ir.h"

namespace mpsd {

// Counts the operators of the module's forward, of all functions that it calls and of all that it
// forks, and the bytes of its parameters and buffers, each tensor once however many names it has.
// Attention counts too where it is written out (attention_pattern.h). Called before freezing, which
// folds the weights into the graph. Not known where a call is left that cannot be followed.
Census TakeCensus(const torch::jit::Module& module);

// Makes all nodes of the frozen forward say that forward itself called them, from the lines that
// they had. libtorch's freezing deletes methods to which the nodes still point: what forward throws
// would then be written down with the names of methods that are gone. Called on each module that
// freezing gave, before its first run.
void RenewCallStacks(const torch::jit::Module& frozen);

// Raises the counts of kinds to those of the frozen module: freezing follows calls of interfaces.
// A call that is left there too makes the census unknown.
void AddFrozen(const torch::jit::Module& frozen, Census* census);

// Whether forward may write into an input, always or for some data. If so, inputs must be copied,
// because slabs are shared. Errs on the side of true.
bool MayWriteInputs(const torch::jit::Module& module);

// Replaces each aten::linear of the graph by addmm (for matrices) or by matmul and add. They
// compute the same, without the kernel that is not thread-safe on mps. Inlines all calls before,
// and looks into what is forked. Returns how many there were. Called while loading, on a graph that
// nothing runs yet.
size_t RewriteLinear(const std::shared_ptr<torch::jit::Graph>& graph);

// The tensors that forward has as constants, of which freezing makes the weights that no run
// writes, on that device; each storage once, in the order of the graph.
std::vector<c10::Storage> ConstantsOf(const torch::jit::Module& module, c10::Device device);

// The operators of forward, "aten::name.overload", for which the loaded libtorch has neither a
// kernel of this backend nor one that is made of other operators. A backend's fallback counts as
// none: on mps it is an error, or a run on the cpu. An operator that is made of others may lack a
// kernel further in, which the graph does not show. Sorted, without duplicates.
std::vector<std::string> OperatorsWithoutKernel(const torch::jit::Module& module,
                                                c10::DispatchKey backend);

}  // namespace mpsd
