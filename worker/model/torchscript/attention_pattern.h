// AttentionPattern: finds attention that is written out, as a softmax between two products of
// matrices.
#pragma once

#include <cstdint>

#include "torch/csrc/jit/ir/ir.h"

namespace mpsd {

// How many attentions the block and all that lies inside it compute without an operator that says
// so: nn.MultiheadAttention with weights, and most models' own code. Each is a product of matrices
// from which a softmax is computed that goes into another product. The ways between them lead
// through any operators but those that have weights, and in and out of branches and loops; a way of
// more than some dozen values is given up. A softmax behind which no product follows, such as a
// classifier's last one, does not count, and neither does one of a linear layer's output. Errs on
// the side of attention. Called on the main thread.
uint32_t CountWrittenOutAttention(torch::jit::Block* block);

}  // namespace mpsd
