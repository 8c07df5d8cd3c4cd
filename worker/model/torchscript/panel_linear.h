// panel_linear: the linear layers of a TorchScript forward, multiplied by FloatPanels.
//
//   %y = aten::linear(%x, %weight, %bias)   ─▶   %y = mpsd::panel_linear(%x, %lines, %bias, to)
//
// Panels are faster on a cpu that libtorch's products do not suit (decision 0040). The weights lie
// in panels instead of the file's order, as constants of the graph. No memory is taken twice,
// unless something else in the graph reads the same weight. A row has the same answer alone and
// beside others.
#pragma once

#include <cstddef>

#include "torch/csrc/jit/api/module.h"

namespace mpsd {

// Rewrites each linear layer of the module's forward whose weight is a constant matrix of floats on
// the cpu. The weights are constants once the module is frozen. Other layers stay. Returns the
// number of rewritten layers.
//
// Called while loading, on the main thread, before the module's forward has run: libtorch keeps the
// code of a forward that has run. REQUIRES: HasPanelProducts(). Throws what libtorch throws.
size_t UsePanels(const torch::jit::Module& module);

}  // namespace mpsd
