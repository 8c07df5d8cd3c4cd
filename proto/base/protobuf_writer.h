// The fields of a protobuf message, written by hand: for messages whose bytes must not be copied
// once more, and for binaries without protobuf. Pure functions, all thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "proto/base/varint.h"

namespace mpsd {

// How a field's value is written; the lowest three bits of the field's key.
enum class WireType : uint8_t {
  kVarint = 0,
  kFixed64 = 1,
  kLengthDelimited = 2,
  kGroupBegin = 3,
  kGroupEnd = 4,
  kFixed32 = 5,
};

constexpr uint64_t FieldKey(uint32_t field, WireType type) {
  return uint64_t{field} << 3 | static_cast<uint64_t>(type);
}

// Writes the key of a field of bytes, text or a message. Its length and its bytes must follow.
inline void PutKey(uint32_t field, std::string* out) {
  PutVarint(FieldKey(field, WireType::kLengthDelimited), out);
}

// Writes a field that is a number, with its key.
inline void PutNumber(uint32_t field, uint64_t value, std::string* out) {
  PutVarint(FieldKey(field, WireType::kVarint), out);
  PutVarint(value, out);
}

// Writes a field of bytes, text or a message, with its key and length. Writes nothing when the
// value is empty.
inline void PutText(uint32_t field, absl::string_view text, std::string* out) {
  if (text.empty()) return;
  PutKey(field, out);
  PutVarint(text.size(), out);
  out->append(text.data(), text.size());
}

// How many bytes PutText() writes for a field below 16.
constexpr size_t TextBytes(absl::string_view text) {
  return text.empty() ? 0 : 1 + VarintBytes(text.size()) + text.size();
}

}  // namespace mpsd
