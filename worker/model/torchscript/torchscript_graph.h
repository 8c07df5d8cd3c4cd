// torchscript_graph: reads and rewrites the graph of a TorchScript forward while loading.
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

// Counts the operators of forward, with called functions and forked graphs, and the bytes of
// parameters and buffers, each tensor once. Called before freezing, which folds the weights into
// the graph. Unknown if a call cannot be followed.
Census TakeCensus(const torch::jit::Module& module);

// Makes all nodes say that forward itself called them. Freezing deletes methods whose names the
// report of an error would use. Called on each frozen module, before its first run.
void RenewCallStacks(const torch::jit::Module& frozen);

// Raises the counts of operator kinds to the frozen module's: freezing follows calls of interfaces.
// A call that remains makes the census unknown.
void AddFrozen(const torch::jit::Module& frozen, Census* census);

// Whether forward may write into an input. Slabs are shared, so inputs must then be copied. In
// doubt true.
bool MayWriteInputs(const torch::jit::Module& module);

// Replaces each aten::linear by addmm or by matmul and add, without the kernel that is not
// thread-safe on mps. Inlines all calls, and looks into forked graphs. Returns the number of
// replaced operators. For a graph that nothing runs yet.
size_t RewriteLinear(const std::shared_ptr<torch::jit::Graph>& graph);

// The constant tensors of forward on that device, each storage once, in the order of the graph. No
// run writes them.
std::vector<c10::Storage> ConstantsOf(const torch::jit::Module& module, c10::Device device);

// The operators of forward, "aten::name.overload", for which libtorch has neither a kernel of this
// backend nor one composed of other operators. A fallback is no kernel: on mps it is an error, or a
// run on the cpu. Sorted, without duplicates.
std::vector<std::string> OperatorsWithoutKernel(const torch::jit::Module& module,
                                                c10::DispatchKey backend);

}  // namespace mpsd
