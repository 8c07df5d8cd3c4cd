// Shapes and the one place where byte counts are computed, with checked arithmetic.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "proto/base/datatype.h"

namespace mpsd {

using Dims = absl::InlinedVector<int64_t, 8>;

// The product of `dims`; nothing when one is negative or the product exceeds 2^62.
std::optional<uint64_t> ElementCount(absl::Span<const int64_t> dims);

// Bytes of a tensor of fixed-size elements; nothing on a negative dim, on overflow, and for BYTES.
std::optional<uint64_t> TensorBytes(DataType datatype, absl::Span<const int64_t> dims);

// True when a tensor of `dims` is one of shape `spec`, in which -1 stands for any length. Pure.
bool ShapeFits(absl::Span<const int64_t> spec, absl::Span<const int64_t> dims);

// `value` rounded up to a multiple of `alignment`, a power of two; nothing on overflow.
std::optional<uint64_t> AlignUp(uint64_t value, uint64_t alignment);

// "[-1,16]"
std::string ShapeText(absl::Span<const int64_t> dims);

}  // namespace mpsd
