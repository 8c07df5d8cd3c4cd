// Varint: an integer as protobuf writes it, seven bits a byte and the lowest ones first.
//
//   300 = 0b10_0101100   →   1_0101100  0_0000010
//
// The highest bit of a byte says that another one follows; 64 bits take ten bytes at most. Keys and
// lengths have 32 bits, and protobuf's parser refuses longer ones, whatever their value is.
// Keys and lengths of every protobuf message are varints. protobuf_writer.h writes them; whoever
// walks a message by hand reads them with the class below.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "proto/base/check.h"

namespace mpsd {

inline constexpr size_t kMaxKeyBytes = 5;  // of a key's varint, or of a length's

// Assembles one varint from bytes that arrive one at a time, so that its bytes may lie in several
// pieces of memory. Reads what clients send. Thread-compatible.
//
//   Varint varint;
//   while (!varint.Take(NextByte())) {
//     if (varint.too_long()) return Malformed();
//   }
//   Use(varint.value());
class Varint {
 public:
  // Takes the next byte. True when the varint is complete; the caller then takes no further byte.
  // REQUIRES: not too_long().
  bool Take(uint8_t byte) {
    MPSD_CHECK(!too_long());
    if (bits_ < 64) value_ |= static_cast<uint64_t>(byte & 0x7f) << bits_;
    bits_ += 7;
    return (byte & 0x80) == 0;
  }

  // True after ten bytes, which is as long as a varint may be. If Take() has not said by then that
  // it is complete, the bytes are malformed.
  bool too_long() const { return bits_ >= 70; }

  // The integer, once Take() has returned true. Bits beyond the 64th are dropped, as protobuf does.
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0;
  uint32_t bits_ = 0;
};

// Appends the varint: one byte to ten.
inline void PutVarint(uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
  out->push_back(static_cast<char>(value));
}

// How many bytes PutVarint() writes.
constexpr size_t VarintBytes(uint64_t value) {
  size_t bytes = 1;
  for (; value >= 0x80; value >>= 7) ++bytes;
  return bytes;
}

}  // namespace mpsd
