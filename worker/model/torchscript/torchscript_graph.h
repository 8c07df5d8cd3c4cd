// torchscript_graph: reads and rewrites the graph of a TorchScript forward.
//
// While loading, between reading the archive and the first run (TorchScriptProgram::Load()):
//
//   TakeCensus              on the module as saved    how many lanes are safe; `mpsd inspect`
//   freeze                  libtorch's own
//   RenewCallStacks         on the frozen graph       an error in forward does not crash
//   AddFrozen               on the frozen module      census of what freezing reveals
//   RewriteLinear           on the frozen graph       on mps, or if the operator asks for it
//   OperatorsWithoutKernel  on the final graph        on mps, for `mpsd inspect` and the log
//   MayWriteInputs          on the final graph        whether slabs can be lent without a copy
//   ConstantsOf             on the final graph        the weights that workers share, on cuda
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

// Counts the operators of the module's forward, with all functions that it calls and all graphs
// that it forks. Also counts the bytes of its parameters and buffers, each tensor once however many
// names it has. Written-out attention counts too (attention_pattern.h). Called before freezing,
// which folds the weights into the graph. The census is unknown if a call remains that cannot be
// followed.
Census TakeCensus(const torch::jit::Module& module);

// Makes all nodes of the frozen forward say that forward itself called them, from the lines that
// they had. Freezing in libtorch deletes methods to which the nodes still point. Reporting an error
// of forward would then use the names of deleted methods. Called on each module that freezing gave,
// before its first run.
void RenewCallStacks(const torch::jit::Module& frozen);

// Raises the counts of operator kinds to those of the frozen module: freezing follows calls of
// interfaces. A call that remains even there makes the census unknown.
void AddFrozen(const torch::jit::Module& frozen, Census* census);

// Whether forward may write into an input, always or for some data. If so, inputs must be copied,
// because slabs are shared. In doubt true.
bool MayWriteInputs(const torch::jit::Module& module);

// Replaces each aten::linear of the graph by addmm (for matrices) or by matmul and add. These
// compute the same, without the kernel that is not thread-safe on mps. First inlines all calls;
// looks into forked graphs too. Returns the number of replaced operators. Called while loading, on
// a graph that nothing runs yet.
size_t RewriteLinear(const std::shared_ptr<torch::jit::Graph>& graph);

// The constant tensors of forward on that device: the weights, which freezing made constant and no
// run writes. Each storage once, in the order of the graph.
std::vector<c10::Storage> ConstantsOf(const torch::jit::Module& module, c10::Device device);

// The operators of forward, "aten::name.overload", for which the loaded libtorch has neither a
// kernel of this backend nor one composed of other operators. A backend's fallback does not count:
// on mps it is an error, or a run on the cpu. A composed operator may lack a kernel further inside,
// which the graph does not show. Sorted, without duplicates.
std::vector<std::string> OperatorsWithoutKernel(const torch::jit::Module& module,
                                                c10::DispatchKey backend);

}  // namespace mpsd
