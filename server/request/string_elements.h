// string_elements: the elements of a tensor of BYTES, as a client sent them or a worker wrote them.
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

// A tensor of BYTES has elements of any length, so that its shape does not tell its size. Raw bytes
// of it are the elements in row-major order, each a length and then that many bytes:
//
//   | 5 0 0 0 | h e l l o | 0 0 0 0 | 2 0 0 0 | h i |      three elements: "hello", "", "hi"
//     little endian, four bytes
//
// Called on the thread that read the message, before anything reads the elements: whatever a client
// writes into a length, nothing behind this function reads beyond the payload.
//
// Walks the payload's elements where they lie; a length or an element may span pieces. Copies no
// element. INVALID_ARGUMENT, in words that clients match on, unless the payload holds exactly as
// many elements as `dims` says: too few, too many, a length that is cut off, or an element that is.
// `dims` are those of the whole tensor, with the batch dim; a product that overflows is refused as
// well. `input` and `model` are names, for the text. Pure.
absl::Status CheckStrings(const Payload& payload, absl::string_view input, absl::string_view model,
                          absl::Span<const int64_t> dims);

// Takes the next element off `bytes`, as a worker wrote them. Nothing where they end before the
// element does: they were checked, but the worker may write another length at any time. So each
// length is read once, and nothing is believed that a caller has read before. Pure.
std::optional<absl::string_view> TakeString(absl::string_view* bytes);

// Copies the elements out of the payload, in their order. REQUIRES: CheckStrings() took it. Pure.
std::vector<std::string> ReadStrings(const Payload& payload);

}  // namespace mpsd
