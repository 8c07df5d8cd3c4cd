// FloatDigits: the digits of the floats that answers are made of.
#pragma once

#include <cmath>
#include <cstdint>

namespace mpsd {

// Room that WriteFraction() needs.
inline constexpr int kFractionBytes = 24;

// Whether a number is one that WriteFraction() writes: neither whole nor tiny nor large. Most
// elements of an embedding are.
inline bool IsPlainFraction(float number) {
  const float size = std::abs(number);
  return size >= 1e-3F && size < 0x1p23F && size != static_cast<float>(static_cast<int32_t>(size));
}

// Writes the number at `to` as std::to_chars() does, in about half of its time, and returns its
// end: with the fewest digits that read back as the same float, and of these the nearest. The
// method is Schubfach ("The Schubfach way to render doubles", R. Giulietti), which needs a table of
// eleven rows for numbers of this size. REQUIRES: IsPlainFraction(), and kFractionBytes are there.
// Thread-safe.
char* WriteFraction(float number, char* to);

}  // namespace mpsd
