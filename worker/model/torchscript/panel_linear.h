// panel_linear: the linear layers of a TorchScript forward, multiplied by FloatPanels.
//
//   %y = aten::linear(%x, %weight, %bias)   ─▶   %y = mpsd::panel_linear(%x, %lines, %bias, to)
//
// On a cpu for which libtorch's products are not made, those of panels are faster (decision 0040).
// The weights lie in panels in place of the file's order, as constants of the graph: no memory is
// taken twice, unless something else in the graph reads the same weight. A row has the same answer
// alone and beside others.
#pragma once

#include <cstddef>

#include "torch/csrc/jit/api/module.h"

namespace mpsd {

// Rewrites each linear layer of the module's forward whose weight is a constant matrix of floats on
// the cpu, which it is once the module is frozen; other layers stay. Returns how many it rewrote.
//
// Called while loading, on the main thread, on a module whose forward has not run yet: libtorch
// keeps the code of one that has. REQUIRES: HasPanelProducts(). Throws what libtorch throws.
size_t UsePanels(const torch::jit::Module& module);

}  // namespace mpsd
