#include "server/texts/outer_spaces.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"

namespace mpsd {
namespace {

// Beyond ASCII. No character of UTF-8 begins within another one, so these bytes are found without
// decoding.
constexpr absl::string_view kWideSpaces[] = {
    "\u0085", "\u00a0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003",
    "\u2004", "\u2005", "\u2006", "\u2007", "\u2008", "\u2009", "\u200a",
    "\u2028", "\u2029", "\u202f", "\u205f", "\u3000",
};

bool IsAsciiSpace(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1C && c <= 0x1F);
}

bool TakeFirst(absl::string_view* text) {
  if (IsAsciiSpace(text->front())) {
    text->remove_prefix(1);
    return true;
  }
  return text->front() < 0 &&
         std::any_of(std::begin(kWideSpaces), std::end(kWideSpaces),
                     [text](absl::string_view space) { return absl::ConsumePrefix(text, space); });
}

bool TakeLast(absl::string_view* text) {
  if (IsAsciiSpace(text->back())) {
    text->remove_suffix(1);
    return true;
  }
  return text->back() < 0 &&
         std::any_of(std::begin(kWideSpaces), std::end(kWideSpaces),
                     [text](absl::string_view space) { return absl::ConsumeSuffix(text, space); });
}

}  // namespace

absl::string_view WithoutOuterSpaces(absl::string_view text) {
  while (!text.empty() && TakeFirst(&text)) {
  }
  while (!text.empty() && TakeLast(&text)) {
  }
  return text;
}

}  // namespace mpsd
