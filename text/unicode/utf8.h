// utf8: reads valid UTF-8 one character at a time, and makes texts valid.
//
//   text from outside  ──ValidUtf8──▶  valid UTF-8  ──TakeCharacter──▶  characters
//                                                   ◀──AppendUtf8────
//
// A text is made valid once, when it enters a tokenizer. All pure and thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace mpsd::text {

inline constexpr char32_t kReplacement = 0xFFFD;

// Returns `text` itself if it is valid. Otherwise `storage` gets U+FFFD for each longest beginning
// of a character, and each byte that begins none, as Python's errors="replace". Overlong forms and
// surrogates are invalid.
absl::string_view ValidUtf8(absl::string_view text, std::string* storage);

// REQUIRES: valid UTF-8, here and below.
inline size_t CharacterSize(char lead) {
  const auto byte = static_cast<uint8_t>(lead);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

inline bool ContinuesCharacter(char byte) { return (static_cast<uint8_t>(byte) & 0xC0) == 0x80; }

// Moves `*at` behind the character, and must not be at the end.
inline char32_t TakeCharacter(const char** at) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(*at);
  const size_t size = CharacterSize(**at);
  *at += size;
  switch (size) {
    case 1:
      return bytes[0];
    case 2:
      return (bytes[0] & 0x1FU) << 6 | (bytes[1] & 0x3FU);
    case 3:
      return (bytes[0] & 0x0FU) << 12 | (bytes[1] & 0x3FU) << 6 | (bytes[2] & 0x3FU);
    default:
      return (bytes[0] & 0x07U) << 18 | (bytes[1] & 0x3FU) << 12 | (bytes[2] & 0x3FU) << 6 |
             (bytes[3] & 0x3FU);
  }
}

inline void AppendUtf8(char32_t c, std::string* text) {
  const auto low = [c](int shift) { return static_cast<char>(0x80 | (c >> shift & 0x3F)); };
  if (c < 0x80) {
    text->push_back(static_cast<char>(c));
  } else if (c < 0x800) {
    const char bytes[] = {static_cast<char>(0xC0 | c >> 6), low(0)};
    text->append(bytes, 2);
  } else if (c < 0x10000) {
    const char bytes[] = {static_cast<char>(0xE0 | c >> 12), low(6), low(0)};
    text->append(bytes, 3);
  } else {
    const char bytes[] = {static_cast<char>(0xF0 | c >> 18), low(12), low(6), low(0)};
    text->append(bytes, 4);
  }
}

inline size_t CharacterCount(absl::string_view text) {
  size_t count = 0;
  for (const char byte : text) count += ContinuesCharacter(byte) ? 0 : 1;
  return count;
}

}  // namespace mpsd::text
