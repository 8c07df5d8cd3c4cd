// Varint: an integer as protobuf writes it, seven bits a byte and the lowest ones first.
//
//   300 = 0b10_0101100   →   1_0101100  0_0000010
//
// The highest bit says that another byte follows; 64 bits take at most ten bytes. Keys and lengths
// have 32 bits: protobuf's parser refuses longer varints, whatever their value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "proto/base/check.h"

namespace mpsd {

inline constexpr size_t kMaxKeyBytes = 5;  // for the varint of a key or a length

// Assembles one varint, byte by byte, possibly from several pieces of memory. Safe for bytes from
// clients. Thread-compatible.
//
//   Varint varint;
//   while (!varint.Take(NextByte())) {
//     if (varint.too_long()) return Malformed();
//   }
//   Use(varint.value());
class Varint {
 public:
  // True when the varint is complete. REQUIRES: not too_long().
  bool Take(uint8_t byte) {
    MPSD_CHECK(!too_long());
    if (bits_ < 64) value_ |= static_cast<uint64_t>(byte & 0x7f) << bits_;
    bits_ += 7;
    return (byte & 0x80) == 0;
  }

  // After ten bytes without an end, the bytes are malformed.
  bool too_long() const { return bits_ >= 70; }

  // Valid once Take() was true. Bits beyond the 64th are dropped, as protobuf does.
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0;
  uint32_t bits_ = 0;
};

// Appends one byte to ten.
inline void PutVarint(uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
  out->push_back(static_cast<char>(value));
}

// The size that PutVarint() writes.
constexpr size_t VarintBytes(uint64_t value) {
  size_t bytes = 1;
  for (; value >= 0x80; value >>= 7) ++bytes;
  return bytes;
}

}  // namespace mpsd
