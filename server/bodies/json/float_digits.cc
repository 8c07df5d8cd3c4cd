#include "server/bodies/json/float_digits.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>

namespace mpsd {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr int kMostDecimals = 10;
constexpr int kFractionBits = 23;
constexpr int kExponentBias = 127 + kFractionBits;

// `digits` × 10^-`decimals`.
struct Decimal {
  uint32_t digits;
  int decimals;
};

constexpr std::array<uint64_t, kMostDecimals + 1> PowersOfTen() {
  std::array<uint64_t, kMostDecimals + 1> powers{};
  uint64_t power = 1;
  for (uint64_t& row : powers) {
    row = power;
    power *= 10;
  }
  return powers;
}

// Shifted left until the top bit is set: row n is exactly 10^n * 2^(63 - Log2OfPower(n)).
constexpr std::array<uint64_t, kMostDecimals + 1> LeadingPowersOfTen() {
  std::array<uint64_t, kMostDecimals + 1> powers = PowersOfTen();
  for (uint64_t& row : powers) row <<= std::countl_zero(row);
  return powers;
}

constexpr auto kPowers = PowersOfTen();
constexpr auto kLeadingPowers = LeadingPowersOfTen();

// Rounded down: log2(10^n), log10(2^n) and log10(3/4 * 2^n).
constexpr int Log2OfPower(int n) { return (n * 1741647) >> 19; }
constexpr int Log10OfPower(int n) { return (n * 1262611) >> 22; }
constexpr int Log10OfThreeQuarters(int n) { return (n * 1262611 - 524031) >> 22; }

// Has no branch.
uint32_t Choose(bool first, uint32_t one, uint32_t other) {
  const uint32_t mask = -static_cast<uint32_t>(first);
  return (one & mask) | (other & ~mask);
}

// The upper 32 of the product's 96 bits. A remainder sets the last bit.
uint32_t RoundedToOdd(uint64_t power, uint32_t factor) {
  const uint64_t low = (power & UINT32_MAX) * factor;
  const uint64_t upper = (power >> 32) * factor + (low >> 32);
  return static_cast<uint32_t>(upper >> 32) | static_cast<uint32_t>((upper & UINT32_MAX) > 1);
}

// The shortest decimal between the midpoints to both neighbours. `lower`, `value` and `upper` are
// lower midpoint, number and upper midpoint, times 4. Their power of ten makes the neighbours less
// than ten apart.
Decimal Shortest(uint32_t bits) {
  const uint32_t fraction = bits & ((1U << kFractionBits) - 1);
  const int exponent = static_cast<int>(bits >> kFractionBits & 0xFF) - kExponentBias;
  const uint32_t significand = fraction | (1U << kFractionBits);
  const bool at_power = fraction == 0;  // a power of two: the lower neighbour is twice as near
  const int decimals = -(at_power ? Log10OfThreeQuarters(exponent) : Log10OfPower(exponent));
  const int shift = exponent + Log2OfPower(decimals) + 1;
  const uint64_t power = kLeadingPowers[static_cast<size_t>(decimals)];
  const uint32_t odd = significand & 1;  // then the midpoints read back as the neighbours
  const uint32_t four = 4 * significand;
  const uint32_t value = RoundedToOdd(power, four << shift);
  const uint32_t lower =
      RoundedToOdd(power, (four - 2 + static_cast<uint32_t>(at_power)) << shift) + odd;
  const uint32_t upper = RoundedToOdd(power, (four + 2) << shift) - odd;

  // The choice follows no pattern: branches would be mispredicted.
  const uint32_t digits = value / 4;
  const uint32_t tens = digits / 10;
  const bool has_lower_ten = lower <= 40 * tens;
  const bool has_upper_ten = 40 * tens + 40 <= upper;
  const bool takes_ten = has_lower_ten != has_upper_ten;
  const bool has_lower = lower <= 4 * digits;
  const bool has_upper = 4 * digits + 4 <= upper;
  const uint32_t middle = 4 * digits + 2;
  const bool is_above = value > middle || (value == middle && (digits & 1) != 0);
  const bool rounds_up = Choose(has_lower != has_upper, has_upper, is_above) != 0;
  return {Choose(takes_ten, tens + has_upper_ten, digits + rounds_up), decimals - takes_ten};
}

// Below 10^8: eight digits, one per byte, the first in the lowest.
uint64_t EightDigits(uint32_t number) {
  const uint64_t fours = number / 10000 | uint64_t{number % 10000} << 32;
  const uint64_t hundreds = (fours * 10486 >> 20) & 0x0000007F0000007F;
  const uint64_t pairs = hundreds | (fours - 100 * hundreds) << 16;
  const uint64_t tens = (pairs * 103 >> 10) & 0x000F000F000F000F;
  return tens | (pairs - 10 * tens) << 8;
}

// Without trailing zeros. Apart from leading zeros there are at most nine digits.
char* WriteDecimals(Decimal decimal, char* to) {
  constexpr uint64_t kZeros = 0x3030303030303030;
  constexpr uint32_t kEight = 100000000;
  const uint64_t eight = EightDigits(decimal.digits % kEight);
  const uint64_t text = (eight | kZeros) >> 8 * std::max(0, 8 - decimal.decimals);
  std::memcpy(to, "00", 2);
  to[std::max(0, decimal.decimals - 9)] = static_cast<char>('0' + decimal.digits / kEight);
  std::memcpy(to + std::max(0, decimal.decimals - 8), &text, sizeof(text));
  return to + decimal.decimals - std::countl_zero(eight) / 8;
}

}  // namespace

char* WriteFraction(float number, char* to) {
  const auto bits = std::bit_cast<uint32_t>(number);
  *to = '-';
  to += bits >> 31;
  Decimal decimal = Shortest(bits);
  const uint64_t one = kPowers[static_cast<size_t>(decimal.decimals)];
  if (decimal.digits < one) {
    *to++ = '0';
  } else {
    const auto whole = static_cast<uint32_t>(decimal.digits / one);
    decimal.digits -= static_cast<uint32_t>(whole * one);
    to = std::to_chars(to, to + 8, whole).ptr;
  }
  *to++ = '.';
  return WriteDecimals(decimal, to);
}

}  // namespace mpsd
