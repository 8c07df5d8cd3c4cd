// bounded_json: reads JSON of untrusted files in bounded memory and stack.
//
// A parser uses some hundred bytes for each bracket, and printing a value recurses once per level.
// So brackets and commas are counted before a parser sees the text.
#pragma once

#include <cstddef>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"

namespace mpsd {

// A file of settings has some labels, and room.
inline constexpr size_t kMaxSettings = 100'000;

// INVALID_ARGUMENT if `text` is malformed, nested more than 16 deep, or has more than about
// `most_values` values; its text ends a sentence about the file. Takes some hundred bytes for each
// value. Pure.
absl::StatusOr<nlohmann::json> ParseBoundedJson(absl::string_view text, size_t most_values);

// Settings must be an object.
absl::StatusOr<nlohmann::json> ParseSettings(absl::string_view text);

}  // namespace mpsd
