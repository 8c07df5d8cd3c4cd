// View, StdView: the same text as the other of the two string_view types, which are one on some
// platforms. Copies nothing.
#pragma once

#include <string_view>

#include "absl/strings/string_view.h"

namespace mpsd {

inline absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view StdView(absl::string_view text) { return {text.data(), text.size()}; }

}  // namespace mpsd
