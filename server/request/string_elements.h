// string_elements: elements of a BYTES tensor.
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

// The elements in row-major order, each a length and then that many bytes:
//
//   | 5 0 0 0 | h e l l o | 0 0 0 0 | 2 0 0 0 | h i |      three elements: "hello", "", "hi"
//     little endian, four bytes
//
// INVALID_ARGUMENT, in words that clients match on, unless the payload holds exactly the elements
// of `dims`, the batch dim included. Called before anything reads the elements. A length or an
// element may span pieces. Pure.
absl::Status CheckStrings(const Payload& payload, absl::string_view input, absl::string_view model,
                          absl::Span<const int64_t> dims);

// Takes the next element off a worker's bytes. Nothing if the bytes end before it. The worker may
// change a checked length at any time, so each is read once. Pure.
std::optional<absl::string_view> TakeString(absl::string_view* bytes);

// In order. REQUIRES: CheckStrings() accepted it. Pure.
std::vector<std::string> ReadStrings(const Payload& payload);

}  // namespace mpsd
