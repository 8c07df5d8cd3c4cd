// kBodyPadding: the room that must follow a JSON body.
#pragma once

#include <cstddef>

namespace mpsd {

// The JSON reader touches so many bytes beyond the text. A transport that reserves them saves a
// copy.
inline constexpr size_t kBodyPadding = 64;

}  // namespace mpsd
