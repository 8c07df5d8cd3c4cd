// The elements of a BYTES tensor: each a little-endian u32 length and that many bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace mpsd {

// The elements; `count` of them must fill `bytes`. INTERNAL when they do not: the front end has
// checked them.
absl::StatusOr<std::vector<absl::string_view>> ReadElements(const void* data, uint64_t bytes,
                                                            uint64_t count);

// How many bytes they take, and puts them there.
uint64_t ElementsBytes(absl::Span<const std::string> elements);
void WriteElements(absl::Span<const std::string> elements, void* target);

}  // namespace mpsd
