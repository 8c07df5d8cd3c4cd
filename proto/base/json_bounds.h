// JsonBounds: how deep and how large a JSON text may be, asked before a parser spends memory on it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace mpsd {

enum class JsonBound : uint8_t { kWithin, kTooDeep, kTooManyValues };

// Looks at quotes, brackets and commas only. The counts bound what a parser builds, even of
// malformed text. Pure.
JsonBound CheckJsonBounds(absl::string_view text, size_t most_depth, size_t most_values);

}  // namespace mpsd
