// bounded_json: reads JSON of untrusted files in bounded memory and stack.
//
// A parser uses some hundred bytes for each bracket, and printing or copying a value recurses once
// per level. So a few MiB of brackets could take GiBs, or the stack. Here brackets and commas are
// counted before a parser sees the text.
#pragma once

#include <cstddef>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"

namespace mpsd {

// The most values in a file of settings: some labels, and room.
inline constexpr size_t kMaxSettings = 100'000;

// Parses `text` as JSON. INVALID_ARGUMENT when it is malformed, is nested more than 16 deep, or has
// more than about `most_values` values; the error's text is the end of a sentence about the file.
// Besides the text, takes at most some hundred bytes of memory for each value. Pure.
absl::StatusOr<nlohmann::json> ParseBoundedJson(absl::string_view text, size_t most_values);

// As ParseBoundedJson() for a text of settings, which must be an object.
absl::StatusOr<nlohmann::json> ParseSettings(absl::string_view text);

}  // namespace mpsd
