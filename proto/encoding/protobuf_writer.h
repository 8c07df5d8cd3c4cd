// Writes the fields of a protobuf message by hand: for messages whose bytes must not be copied
// again, and for binaries without protobuf. Pure functions, all thread-safe.
//
// A message is a row of fields, each a key and a value. The key is a varint (varint.h) made from
// the field's number and the form of its value:
//
//   │ key: number << 3 | type │ varint │           PutNumber()
//   │ key: number << 3 | type │ 8 bytes │          PutFixed64()
//   │ key: number << 3 | type │ length │ bytes │   PutText(), or PutKey() and the rest by hand
//
// A nested message is a field with a length. Fields may come in any order. Each function appends to
// `out`. Nothing is checked: the caller ensures that text fields are UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "proto/encoding/varint.h"

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

// The key of a field. REQUIRES: `field` is a field number, from 1 to 2^29 - 1.
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

// Writes a field of eight bytes, with its key: a double's bits, or a number of a fixed size.
inline void PutFixed64(uint32_t field, uint64_t bits, std::string* out) {
  PutVarint(FieldKey(field, WireType::kFixed64), out);
  for (int shift = 0; shift < 64; shift += 8) out->push_back(static_cast<char>(bits >> shift));
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
