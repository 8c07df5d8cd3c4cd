// elements: the elements of a tensor, as numbers and as strings.
//
// A tensor's bytes are little endian, row-major, without padding. Elements of a fixed-size datatype
// follow one another. An element of BYTES is its length, a u32, and then that many bytes:
//
//   03 00 00 00  'a' 'b' 'c'   00 00 00 00   02 00 00 00  'd' 'e'        three elements
//
// Only a model with string arguments, the self-check that compares outputs, and the synthetic model
// look at elements. Everything else moves bytes. Pure functions, all thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/base/datatype.h"

namespace mpsd {

// Whether elements of the datatype are floats of any size.
bool IsFloat(DataType datatype);

// One element of any datatype, as a number. NaN for BYTES, whose elements are not numbers. Integers
// beyond 2^53 are rounded. `data` need not be aligned; it points to ElementBytes(datatype) readable
// bytes.
double ReadElement(DataType datatype, const void* data);

// The `count` elements in the `bytes` bytes at `data`. They point into `data` and are valid as long
// as it is. `data` need not be aligned. INTERNAL when the elements do not fill the bytes exactly.
// That is a bug, not a client's fault, because the front end has checked it.
absl::StatusOr<std::vector<absl::string_view>> ReadElements(const void* data, uint64_t bytes,
                                                            uint64_t count);

// How many bytes the elements take as a tensor.
uint64_t ElementsBytes(absl::Span<const std::string> elements);

// Writes the elements to `target`, which has ElementsBytes() bytes. REQUIRES: each element's length
// fits a u32.
void WriteElements(absl::Span<const std::string> elements, void* target);

}  // namespace mpsd
