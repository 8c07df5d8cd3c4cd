// CutAtCharacter: shortens a text of UTF-8 without splitting a character.
//
// Texts of clients, models and libraries go into error messages, logs and JSON, which are bounded.
// Half a character there would make the whole message invalid for a strict reader.
//
//   CutAtCharacter("naïve", 3)   →  "na"      (ï is two bytes, the third and the fourth)
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace mpsd {

// The longest beginning of `text` that has at most `max_bytes` bytes and ends between two
// characters. Bytes that are not UTF-8 stay as they are, and may be cut anywhere. Thread-safe.
inline absl::string_view CutAtCharacter(absl::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  const auto continues = [text](size_t i) {
    return (static_cast<uint8_t>(text[i]) & 0xC0) == 0x80;
  };
  size_t end = max_bytes;
  while (end > 0 && continues(end)) --end;
  return text.substr(0, end);
}

}  // namespace mpsd
