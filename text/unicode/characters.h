// characters: a tokenizer's facts about each character, and its decompositions.
//
// The tables follow the library `tokenizers`, whose parts use several old versions of Unicode: a
// model's ids must be those of its training. All functions are pure and take any code point except
// surrogates.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace mpsd::text {

// make_tables.py has the same order.
enum Trait : uint32_t {
  kSpace = 1 << 0,              // ends a word
  kControl = 1 << 1,            // BERT drops it: control, format, private, U+FFFD
  kPunctuation = 1 << 2,        // a word for BERT: ASCII's signs, Unicode's punctuation
  kIdeograph = 1 << 3,          // a word for BERT: CJK
  kNonspacingMark = 1 << 4,     // an accent for BERT
  kMark = 1 << 5,               // an accent for the normalizer StripAccents
  kWord = 1 << 6,               // for added tokens that are words of their own
  kLetter = 1 << 7,             // \p{L} of patterns
  kNumber = 1 << 8,             // \p{N}
  kPatternSpace = 1 << 9,       // \s
  kHasLower = 1 << 10,          // AppendLower() changes it
  kHasCanonical = 1 << 11,      // decomposes in NFD; Hangul has a rule instead
  kHasCompatibility = 1 << 12,  // decomposes further in NFKD
  kHasOrder = 1 << 13,          // NFD sorts it among its neighbours
};

// Says where graphemes end. make_tables.py has the same order.
enum class GraphemeClass : uint32_t {
  kOther,
  kControl,
  kCr,
  kLf,
  kExtend,
  kConjunctExtend,
  kLinker,
  kJoiner,
  kPrepend,
  kSpacingMark,
  kHangulL,
  kHangulV,
  kHangulT,
  kHangulLv,
  kHangulLvt,
  kPictograph,
  kConsonant,
};
inline constexpr int kGraphemeShift = 14;  // above the traits

extern const std::array<uint32_t, 128> kAsciiTraits;
uint32_t FarTraits(char32_t c);

// The grapheme class lies above the traits.
inline uint32_t Traits(char32_t c) {
  return c < kAsciiTraits.size() ? kAsciiTraits[c] : FarTraits(c);
}

inline GraphemeClass GraphemeClassOf(char32_t c) {
  return static_cast<GraphemeClass>(Traits(c) >> kGraphemeShift);
}

// May append two characters. A final sigma is an ordinary one.
void AppendLower(char32_t c, std::u32string* text);

// Decomposes completely, but does not sort the marks.
enum class Decomposition { kCanonical, kCompatibility };
void AppendDecomposed(char32_t c, Decomposition decomposition, std::u32string* text);

// An order is 1 to 240, or 0 for a character that stays in place.
uint8_t OrderOf(char32_t c);

// 0 if the two do not compose.
char32_t Composed(char32_t first, char32_t second);

}  // namespace mpsd::text
