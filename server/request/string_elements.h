// string_elements: elements of a BYTES tensor, as a client sent them or a worker wrote them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/request/infer_message.h"

namespace mpsd {

// Elements of BYTES have any length, so the shape does not tell the size. The raw bytes are the
// elements in row-major order, each a length and then that many bytes:
//
//   | 5 0 0 0 | h e l l o | 0 0 0 0 | 2 0 0 0 | h i |      three elements: "hello", "", "hi"
//     little endian, four bytes
//
// Called on the thread that read the message, before anything reads the elements: whatever lengths
// a client writes, nothing later reads beyond the payload.
//
// Walks the payload's elements in place; a length or an element may span pieces. Copies no element.
// INVALID_ARGUMENT, in words that clients match on, unless the payload holds exactly as many
// elements as `dims` says. It may hold too few or too many, or a length or element that is cut off.
// The whole tensor has these `dims`, with the batch dim; a product that overflows is refused too.
// For the text, `input` and `model` are names. Pure.
absl::Status CheckStrings(const Payload& payload, absl::string_view input, absl::string_view model,
                          absl::Span<const int64_t> dims);

// Takes the next element off `bytes`, as a worker wrote them. Nothing if the bytes end before the
// element does: they were checked, but the worker may write another length at any time. So each
// length is read once, and no earlier reading is trusted. Pure.
std::optional<absl::string_view> TakeString(absl::string_view* bytes);

// Copies the payload's elements, in order. REQUIRES: CheckStrings() accepted it. Pure.
std::vector<std::string> ReadStrings(const Payload& payload);

}  // namespace mpsd
