// reshape: one tensor in two shapes, the clients' and the model's.
#pragma once

#include <string>

#include "absl/types/span.h"
#include "proto/base/shape.h"

namespace mpsd {

// A config may give a tensor another shape for clients. No byte moves:
//
//   clients     [1]   [-1,4]     [2,-1,6]
//   the model   []    [-1,2,2]   [2,-1,2,3]
//
// Open dims correspond in order, and dims between them have the same product. Shapes are without
// the batch dim. All pure and thread-safe.

// Why not every tensor of the shape `from` fits `to`; empty if each does. REQUIRES: neither shape
// is larger than any memory.
std::string ReshapeFault(absl::Span<const int64_t> from, absl::Span<const int64_t> to);

// REQUIRES: the tensor fits `from`, and ReshapeFault(from, to) is empty.
Dims Reshaped(absl::Span<const int64_t> from, absl::Span<const int64_t> to,
              absl::Span<const int64_t> dims);

}  // namespace mpsd
