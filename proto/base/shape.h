// shape: dims of tensors, and the one place where byte counts are computed, with checked
// arithmetic.
//
// A shape comes from a client, a config, a file or another process, and its product becomes a size
// of memory. So nobody multiplies dims by hand. Instead of a number that wrapped around, these
// functions return nothing, and the caller reports an error. In a spec, -1 stands for an open dim;
// a tensor never has it. Pure functions, all thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "proto/base/datatype.h"

namespace mpsd {

// The dims of a tensor, outermost first. Up to kMaxRank dims need no allocation.
using Dims = absl::InlinedVector<int64_t, 8>;

// The product of `dims`; 1 if there are none. Nothing if a dim is negative, or if the dims other
// than 0 multiply to more than 2^62: a 0 does not hide dims that could not be counted.
std::optional<uint64_t> ElementCount(absl::Span<const int64_t> dims);

// The bytes of a tensor of fixed-size elements; nothing for BYTES, for a negative dim, and on
// overflow.
std::optional<uint64_t> TensorBytes(DataType datatype, absl::Span<const int64_t> dims);

// Whether a tensor of `dims` has the shape `spec`, in which -1 stands for any length, 0 included.
bool ShapeFits(absl::Span<const int64_t> spec, absl::Span<const int64_t> dims);

// `value` rounded up to a multiple of `alignment`, a power of two; nothing on overflow.
std::optional<uint64_t> AlignUp(uint64_t value, uint64_t alignment);

// For example "[-1,16]".
std::string ShapeText(absl::Span<const int64_t> dims);

}  // namespace mpsd
