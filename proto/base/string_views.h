// View: the same text as the other of the two string_view types.
// (Abseil's and the standard library's are one type on some platforms and two on others.)
//
// Both types are used: absl::string_view with Abseil's functions, std::string_view in constants and
// with JSON. Where one goes into a function for the other, these two make the step visible, and
// right on every platform. They copy nothing: the result is valid as long as the argument's text
// is.
#pragma once

#include <string_view>

#include "absl/strings/string_view.h"

namespace mpsd {

inline absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view StdView(absl::string_view text) { return {text.data(), text.size()}; }

}  // namespace mpsd
