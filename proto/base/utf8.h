// utf8: cuts and repairs texts of UTF-8 for messages, logs and JSON, which half a character would
// make invalid. All thread-safe.
//
//   CutAtCharacter("naïve", 3)   →  "na"      (ï is two bytes, the third and the fourth)
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace mpsd {

// The longest prefix of at most `max_bytes` that does not end inside a character. Bytes that are
// not UTF-8 may be cut anywhere.
inline absl::string_view CutAtCharacter(absl::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  const auto continues = [text](size_t i) {
    return (static_cast<uint8_t>(text[i]) & 0xC0) == 0x80;
  };
  size_t end = max_bytes;
  while (end > 0 && continues(end)) --end;
  return text.substr(0, end);
}

// The first character's size. 0 if it is not valid: an overlong form, a surrogate, or cut short.
inline size_t CharacterBytes(absl::string_view text) {
  const auto byte = [text](size_t i) { return static_cast<uint8_t>(text[i]); };
  if (text.empty()) return 0;
  const uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < size) return 0;
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const uint8_t next = byte(1);
  const bool overlong = (lead == 0xE0 && next < 0xA0) || (lead == 0xF0 && next < 0x90);
  const bool surrogate = lead == 0xED && next >= 0xA0;
  const bool too_large = lead == 0xF4 && next >= 0x90;
  return overlong || surrogate || too_large ? 0 : size;
}

inline bool IsUtf8(absl::string_view text) {
  while (!text.empty()) {
    const size_t size = CharacterBytes(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

// U+FFFD replaces each byte of no character. Protobuf's string readers refuse a message with one.
inline std::string WithoutBadBytes(absl::string_view text) {
  std::string good;
  while (!text.empty()) {
    const size_t size = CharacterBytes(text);
    if (size == 0) {
      good.append("\xEF\xBF\xBD");
      text.remove_prefix(1);
    } else {
      good.append(text.data(), size);
      text.remove_prefix(size);
    }
  }
  return good;
}

}  // namespace mpsd
