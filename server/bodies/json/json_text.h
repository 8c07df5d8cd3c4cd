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

// The JSON writer of this folder and bodies/text_routes/: appends element by element to a string;
// json_walk.h reads. Nothing here fails or is bounded: the caller watches the size of `out`.
//
//   std::string json = R"({"y":[)";
//   char number[kJsonNumberBytes];
//   json.append(number, WriteJsonNumber(0.5F, number) - number);
//   json += "]}";                                                   // {"y":[0.5]}
//
// PutJsonText() escapes every character below a space, so a text fits in one line of an event
// stream.

// Appends `text` as a JSON string. Characters beyond ASCII stay as they are. False if `text` is not
// all UTF-8: each bad byte then became U+FFFD, so the text is valid JSON either way. Writes at most
// six bytes per byte of `text`, and two quotes. Thread-safe.
bool PutJsonText(absl::string_view text, std::string* out);

// {"error":"TEXT"}: the body of every refusal, as Triton's clients read it. Thread-safe.
std::string ErrorJson(absl::string_view text);

// Room for any number, a comma and the additions of WriteJsonNumber().
inline constexpr size_t kJsonNumberBytes = 32;
static_assert(kJsonNumberBytes > kFractionBytes);

// Whether a finite number has no fraction. On most targets std::trunc() would be a call.
template <std::floating_point Real>
bool IsWhole(Real number) {
  // Above this every number is whole.
  constexpr auto kLarge = static_cast<Real>(int64_t{1} << (std::numeric_limits<Real>::digits - 1));
  return std::abs(number) >= kLarge || number == static_cast<Real>(static_cast<int64_t>(number));
}

// Writes a number at `to` and returns the end. A real number has the fewest digits that read back
// as the same number of its type. It always has a point or an exponent, so that readers give it a
// real type: 1.0, 0.1, 1e+30. JSON has no form for numbers that are not finite: PutTensorJson()
// refuses them. REQUIRES: the number is finite, and there is room for kJsonNumberBytes.
// Thread-safe.
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
