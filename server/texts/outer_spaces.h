// WithoutOuterSpaces: Python's str.strip().
#pragma once

#include "absl/strings/string_view.h"

namespace mpsd {

// A part of `text`, which may be any bytes: invalid UTF-8 is no whitespace. Pure.
absl::string_view WithoutOuterSpaces(absl::string_view text);

}  // namespace mpsd
