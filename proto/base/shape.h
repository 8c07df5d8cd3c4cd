// shape: dims of tensors, and the one place where byte counts are computed, with checked
// arithmetic.
//
// Shapes come from outside, and a product becomes a size of memory. So nobody multiplies by hand:
// these functions return nothing on overflow. In a spec, -1 stands for an open dim. All pure and
// thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "proto/base/datatype.h"

namespace mpsd {

// The outermost dim comes first. Up to kMaxRank dims need no allocation.
using Dims = absl::InlinedVector<int64_t, 8>;

// An empty shape has 1. Nothing if a dim is negative, or the dims other than 0 multiply to more
// than 2^62: a 0 does not hide dims that could not be counted.
std::optional<uint64_t> ElementCount(absl::Span<const int64_t> dims);

// Nothing for BYTES, for a negative dim, and on overflow.
std::optional<uint64_t> TensorBytes(DataType datatype, absl::Span<const int64_t> dims);

// In `spec`, -1 stands for any length, 0 included.
bool ShapeFits(absl::Span<const int64_t> spec, absl::Span<const int64_t> dims);

// `alignment` is a power of two; nothing on overflow.
std::optional<uint64_t> AlignUp(uint64_t value, uint64_t alignment);

// "[-1,16]".
std::string ShapeText(absl::Span<const int64_t> dims);

}  // namespace mpsd
