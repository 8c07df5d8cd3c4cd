// elements: the elements of a tensor, as numbers and as strings.
//
// A tensor's bytes are little endian, row-major, without padding. An element of BYTES is its
// length, a u32, and then that many bytes:
//
//   03 00 00 00  'a' 'b' 'c'   00 00 00 00   02 00 00 00  'd' 'e'        three elements
//
// Pure functions, all thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/base/datatype.h"

namespace mpsd {

bool IsFloat(DataType datatype);

// One element as a number: NaN for BYTES, rounded beyond 2^53. `data` need not be aligned, and has
// ElementBytes(datatype) bytes.
double ReadElement(DataType datatype, const void* data);

// The elements point into `data`, which need not be aligned. INTERNAL when they do not fill the
// bytes exactly: a bug, because the front end has checked them.
absl::StatusOr<std::vector<absl::string_view>> ReadElements(const void* data, uint64_t bytes,
                                                            uint64_t count);

// Bytes of the elements as a tensor.
uint64_t ElementsBytes(absl::Span<const std::string> elements);

// `target` has ElementsBytes() bytes. REQUIRES: each element's length fits a u32.
void WriteElements(absl::Span<const std::string> elements, void* target);

}  // namespace mpsd
