// JsonText: writes strings and numbers of JSON.
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "absl/strings/string_view.h"
#include "server/bodies/json/float_digits.h"

namespace mpsd {

// Nothing here fails or is bounded: the caller watches the size of `out`.
//
//   std::string json = R"({"y":[)";
//   char number[kJsonNumberBytes];
//   json.append(number, WriteJsonNumber(0.5F, number) - number);
//   json += "]}";                                                   // {"y":[0.5]}

// Appends `text` in one line: every character below a space is escaped. False if `text` is not all
// UTF-8; each bad byte became U+FFFD. Writes at most six bytes per byte of `text`, and two quotes.
// Thread-safe.
bool PutJsonText(absl::string_view text, std::string* out);

// {"error":"TEXT"}, the body of every refusal. Thread-safe.
std::string ErrorJson(absl::string_view text);

// For any number and a comma.
inline constexpr size_t kJsonNumberBytes = 32;
static_assert(kJsonNumberBytes > kFractionBytes);

// On most targets std::trunc() would be a call.
template <std::floating_point Real>
bool IsWhole(Real number) {
  // Above this every number is whole.
  constexpr auto kLarge = static_cast<Real>(int64_t{1} << (std::numeric_limits<Real>::digits - 1));
  return std::abs(number) >= kLarge || number == static_cast<Real>(static_cast<int64_t>(number));
}

// Returns the end. A real number has the fewest digits that read back as the same number of its
// type. Its point or exponent has readers give it a real type: 1.0, 0.1, 1e+30. REQUIRES: the
// number is finite, and there is room for kJsonNumberBytes. Thread-safe.
template <typename Number>
char* WriteJsonNumber(Number number, char* to) {
  if constexpr (std::same_as<Number, float>) {
    if (IsPlainFraction(number)) return WriteFraction(number, to);
  }
  char* const end = std::to_chars(to, to + kJsonNumberBytes, number).ptr;
  if constexpr (std::floating_point<Number>) {
    if (!IsWhole(number)) return end;
    for (const char* at = to; at != end; ++at) {
      if (*at == 'e') return end;
    }
    end[0] = '.';
    end[1] = '0';
    return end + 2;
  }
  return end;
}

}  // namespace mpsd
