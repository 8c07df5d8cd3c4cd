// AttentionPattern: finds attention that is written out.
#pragma once

#include <cstdint>

#include "torch/csrc/jit/ir/ir.h"

namespace mpsd {

// How many attentions the block and all blocks inside it compute without an attention operator.
// Such an attention is a product of matrices, a softmax of it, and another product. Operators
// without weights, branches and loops may stand between them, but at most some dozen values. In
// doubt it counts. Called on the main thread.
uint32_t CountWrittenOutAttention(torch::jit::Block* block);

}  // namespace mpsd
