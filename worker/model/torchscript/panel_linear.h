// panel_linear: the linear layers of a TorchScript forward, multiplied by FloatPanels.
//
//   %y = aten::linear(%x, %weight, %bias)   ─▶   %y = mpsd::panel_linear(%x, %lines, %bias, to)
//
// Panels are faster on some cpus (decision 0040). They replace the weights as constants of the
// graph. A row has the same answer alone and beside others.
#pragma once

#include <cstddef>

#include "torch/csrc/jit/api/module.h"

namespace mpsd {

// Rewrites each linear layer whose weight is a constant matrix of floats on the cpu, as in a frozen
// module. Returns the number of rewritten layers.
//
// Called while loading, on the main thread, before forward has run: libtorch keeps the code of a
// forward that has run. REQUIRES: HasPanelProducts(). May throw.
size_t UsePanels(const torch::jit::Module& module);

}  // namespace mpsd
