// string_elements: the elements of a BYTES tensor, each a little-endian u32 length and that many
// bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace mpsd {

// The `count` elements that `bytes` bytes at `data` hold; they point into `data` and are valid as
// long as it is. INTERNAL when the elements do not fill the bytes exactly, which the front end has
// checked before: it is a bug, not a client's fault.
absl::StatusOr<std::vector<absl::string_view>> ReadElements(const void* data, uint64_t bytes,
                                                            uint64_t count);

// ElementsBytes(): how many bytes the elements take as a tensor. WriteElements(): writes them to
// `target`, which has that many bytes.
uint64_t ElementsBytes(absl::Span<const std::string> elements);
void WriteElements(absl::Span<const std::string> elements, void* target);

}  // namespace mpsd
