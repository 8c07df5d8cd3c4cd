// WithoutOuterSpaces: a text without the whitespace at its ends, as of Python's str.strip().
#pragma once

#include "absl/strings/string_view.h"

namespace mpsd {

// A part of `text`, which may be any bytes: those that are no UTF-8 are no whitespace. Pure,
// thread-safe.
absl::string_view WithoutOuterSpaces(absl::string_view text);

}  // namespace mpsd
