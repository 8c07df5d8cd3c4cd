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
#include "server/rest/float_digits.h"

namespace mpsd {

// What this folder and embedders/ write JSON with, element by element at the end of a string; what
// reads is json_walk.h. Nothing here fails or is bounded: the caller looks at the size of `out`.
//
//   std::string json = R"({"y":[)";
//   char number[kJsonNumberBytes];
//   json.append(number, WriteJsonNumber(0.5F, number) - number);
//   json += "]}";                                                   // {"y":[0.5]}
//
// A text has no line break, since PutJsonText() escapes what lies below a space: it can stand in
// one line of a stream of events.

// Appends `text` as a JSON string. Characters beyond ASCII stay as they are. False where it is not
// all UTF-8: each byte that is none became the character U+FFFD then, so that the text is sound
// JSON either way. At most six bytes for each byte of `text`, and two quotes. Thread-safe.
bool PutJsonText(absl::string_view text, std::string* out);

// {"error":"TEXT"}: the body of every refusal, as Triton's clients read it. Thread-safe.
std::string ErrorJson(absl::string_view text);

// Room enough for any number, a comma and what WriteJsonNumber() adds.
inline constexpr size_t kJsonNumberBytes = 32;
static_assert(kJsonNumberBytes > kFractionBytes);

// Whether a finite number has no fraction. On most targets std::trunc() would be a call.
template <std::floating_point Real>
bool IsWhole(Real number) {
  // From here on every number is whole.
  constexpr auto kLarge = static_cast<Real>(int64_t{1} << (std::numeric_limits<Real>::digits - 1));
  return std::abs(number) >= kLarge || number == static_cast<Real>(static_cast<int64_t>(number));
}

// Writes a number at `to` and returns its end. A real number has the fewest digits that read back
// as the same number of its type, and always a point or an exponent, so that readers give it a
// real type: 1.0, 0.1, 1e+30. JSON has no form for what is not finite: PutTensorJson() refuses it.
// REQUIRES: it is finite, and kJsonNumberBytes are there. Thread-safe.
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
