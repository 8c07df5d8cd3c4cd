// kBodyPadding: the room that a body of JSON needs behind itself.
#pragma once

#include <cstddef>

namespace mpsd {

// The reader of JSON loads whole vectors and so touches up to this many bytes behind the text. A
// transport that reserves them when it receives a body saves a copy of it.
inline constexpr size_t kBodyPadding = 64;

}  // namespace mpsd
