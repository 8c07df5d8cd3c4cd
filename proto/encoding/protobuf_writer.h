// protobuf_writer: writes the fields of a protobuf message by hand: for messages whose bytes must
// not be copied again, and for binaries without protobuf. All thread-safe.
//
//   │ key: number << 3 | type │ varint │           PutNumber()
//   │ key: number << 3 | type │ 8 bytes │          PutFixed64()
//   │ key: number << 3 | type │ length │ bytes │   PutText(), or PutKey() and the rest by hand
//
// A nested message is a field with a length. Functions append to `out` and check nothing: the
// caller ensures that text is UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "proto/encoding/varint.h"

namespace mpsd {

// The lowest three bits of a field's key.
enum class WireType : uint8_t {
  kVarint = 0,
  kFixed64 = 1,
  kLengthDelimited = 2,
  kGroupBegin = 3,
  kGroupEnd = 4,
  kFixed32 = 5,
};

// REQUIRES: `field` is from 1 to 2^29 - 1.
constexpr uint64_t FieldKey(uint32_t field, WireType type) {
  return uint64_t{field} << 3 | static_cast<uint64_t>(type);
}

// The field is bytes, text or a message, whose length and bytes must follow.
inline void PutKey(uint32_t field, std::string* out) {
  PutVarint(FieldKey(field, WireType::kLengthDelimited), out);
}

inline void PutNumber(uint32_t field, uint64_t value, std::string* out) {
  PutVarint(FieldKey(field, WireType::kVarint), out);
  PutVarint(value, out);
}

// A double's bits, or a number of a fixed size.
inline void PutFixed64(uint32_t field, uint64_t bits, std::string* out) {
  PutVarint(FieldKey(field, WireType::kFixed64), out);
  for (int shift = 0; shift < 64; shift += 8) out->push_back(static_cast<char>(bits >> shift));
}

// Bytes, text or a message. Writes nothing when the value is empty.
inline void PutText(uint32_t field, absl::string_view text, std::string* out) {
  if (text.empty()) return;
  PutKey(field, out);
  PutVarint(text.size(), out);
  out->append(text.data(), text.size());
}

// The size that PutText() writes for a field below 16.
constexpr size_t TextBytes(absl::string_view text) {
  return text.empty() ? 0 : 1 + VarintBytes(text.size()) + text.size();
}

}  // namespace mpsd
