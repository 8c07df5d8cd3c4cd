// shape: dims of tensors, and the one place where byte counts are computed, with checked
// arithmetic.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "proto/base/datatype.h"

namespace mpsd {

using Dims = absl::InlinedVector<int64_t, 8>;

// The product of `dims`; nothing when one is negative, or the product exceeds 2^62.
std::optional<uint64_t> ElementCount(absl::Span<const int64_t> dims);

// The bytes of a tensor of fixed-size elements; nothing for BYTES, for a negative dim, and on
// overflow.
std::optional<uint64_t> TensorBytes(DataType datatype, absl::Span<const int64_t> dims);

// Whether a tensor of `dims` has the shape `spec`, in which -1 stands for any length. Pure.
bool ShapeFits(absl::Span<const int64_t> spec, absl::Span<const int64_t> dims);

// `value` rounded up to a multiple of `alignment`, a power of two; nothing on overflow.
std::optional<uint64_t> AlignUp(uint64_t value, uint64_t alignment);

// For example "[-1,16]".
std::string ShapeText(absl::Span<const int64_t> dims);

}  // namespace mpsd
