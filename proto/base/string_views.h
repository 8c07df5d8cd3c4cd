// View: the same text as the other of the two string_view types.
// (Abseil's and the standard library's are one type on some platforms and two on others.)
//
// Abseil's functions take absl::string_view; constants and JSON use std::string_view. These two
// conversions are right on every platform. They copy nothing: the result is valid as long as the
// argument's text.
#pragma once

#include <string_view>

#include "absl/strings/string_view.h"

namespace mpsd {

inline absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view StdView(absl::string_view text) { return {text.data(), text.size()}; }

}  // namespace mpsd
