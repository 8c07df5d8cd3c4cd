// reshape: one tensor in two shapes, the clients' and the model's.
#pragma once

#include <string>

#include "absl/types/span.h"
#include "proto/base/shape.h"

namespace mpsd {

// A config may give a tensor one shape for clients and another for the model. No byte moves: only
// the reported dims differ.
//
//   clients     [1]   [-1,4]     [2,-1,6]
//   the model   []    [-1,2,2]   [2,-1,2,3]
//
// The open dims of both shapes correspond in order, and the dims between two open ones have the
// same product in both. Shapes are without the batch dim. Pure functions, all thread-safe.

// Why a tensor of the shape `from` may not fit the shape `to`; empty if every such tensor does.
// REQUIRES: neither shape is larger than any memory; otherwise the answer means nothing.
std::string ReshapeFault(absl::Span<const int64_t> from, absl::Span<const int64_t> to);

// The dims that a tensor of dims `dims` has in the shape `to`. REQUIRES: the tensor fits `from`,
// and ReshapeFault(from, to) is empty.
Dims Reshaped(absl::Span<const int64_t> from, absl::Span<const int64_t> to,
              absl::Span<const int64_t> dims);

}  // namespace mpsd
