// AttentionPattern: finds attention that is written out, as a softmax between two products of
// matrices.
#pragma once

#include <cstdint>

#include "torch/csrc/jit/ir/ir.h"

namespace mpsd {

// How many attentions the block and all blocks inside it compute without an attention operator, as
// most models' own code does. Such an attention is a product of matrices, a softmax computed from
// it, and another product computed from the softmax. The ways between them lead through any
// operators without weights, and in and out of branches and loops. A way of more than some dozen
// values is given up. A softmax that no product follows, such as a classifier's last one, does not
// count, nor does a softmax of a linear layer's output. In doubt it counts. Called on the main
// thread.
uint32_t CountWrittenOutAttention(torch::jit::Block* block);

}  // namespace mpsd
