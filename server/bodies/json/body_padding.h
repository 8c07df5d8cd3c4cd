// kBodyPadding: the room that must follow a JSON body.
#pragma once

#include <cstddef>

namespace mpsd {

// The JSON reader loads whole vectors, and so touches up to this many bytes beyond the text. A
// transport that reserves them when it receives a body saves a copy.
inline constexpr size_t kBodyPadding = 64;

}  // namespace mpsd
