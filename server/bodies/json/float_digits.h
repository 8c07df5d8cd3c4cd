// FloatDigits: floats in decimal.
#pragma once

#include <cmath>
#include <cstdint>

namespace mpsd {

inline constexpr int kFractionBytes = 24;

// Neither whole nor tiny nor large, like most elements of an embedding.
inline bool IsPlainFraction(float number) {
  const float size = std::abs(number);
  return size >= 1e-3F && size < 0x1p23F && size != static_cast<float>(static_cast<int32_t>(size));
}

// Writes the number as std::to_chars() does, in about half the time, and returns the end. The text
// has the fewest digits that read back as the same float; among these it is the nearest. The method
// is Schubfach ("The Schubfach way to render doubles", R. Giulietti), which needs only eleven rows
// of its table here. REQUIRES: IsPlainFraction(), and room for kFractionBytes. Thread-safe.
char* WriteFraction(float number, char* to);

}  // namespace mpsd
