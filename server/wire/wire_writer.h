// Writes protobuf's wire format: what the hand-written messages are made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace mpsd {

inline void PutVarint(uint64_t value, std::string* out) {
  while (value >= 0x80) {
    out->push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out->push_back(static_cast<char>(value));
}

// The key of a field whose length stands before it.
inline void PutKey(uint32_t field, std::string* out) {
  constexpr uint32_t kLengthDelimited = 2;
  PutVarint(field << 3 | kLengthDelimited, out);
}

// The key of a field that is a number.
inline void PutNumber(uint32_t field, uint64_t value, std::string* out) {
  PutVarint(field << 3, out);
  PutVarint(value, out);
}

// A field of bytes, text or a message; nothing when it is empty.
inline void PutText(uint32_t field, absl::string_view text, std::string* out) {
  if (text.empty()) return;
  PutKey(field, out);
  PutVarint(text.size(), out);
  out->append(text.data(), text.size());
}

inline size_t VarintBytes(uint64_t value) {
  size_t bytes = 1;
  for (; value >= 0x80; value >>= 7) ++bytes;
  return bytes;
}

// What PutText() writes, for fields below 16.
inline size_t TextBytes(absl::string_view text) {
  return text.empty() ? 0 : 1 + VarintBytes(text.size()) + text.size();
}

}  // namespace mpsd
