// characters: a tokenizer's facts about each character, and its decompositions.
//
// make_tables.py writes the tables in tables.inc. They follow the library `tokenizers`, not
// Unicode. Parts of that library use tables of several old versions of Unicode, and a model sees
// only ids, which must be those of its training. Everything here is a pure function, thread-safe,
// and takes any code point except surrogates.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace mpsd::text {

// Bits of Traits(), in the order of make_tables.py.
enum Trait : uint32_t {
  kSpace = 1 << 0,              // ends a word
  kControl = 1 << 1,            // BERT drops it: control, format and private characters, U+FFFD
  kPunctuation = 1 << 2,        // a word of its own for BERT: ASCII's signs, Unicode's punctuation
  kIdeograph = 1 << 3,          // a word of its own for BERT: a CJK ideograph
  kNonspacingMark = 1 << 4,     // an accent for BERT
  kMark = 1 << 5,               // an accent for the normalizer StripAccents
  kWord = 1 << 6,               // for added tokens that are words of their own
  kLetter = 1 << 7,             // \p{L} of patterns
  kNumber = 1 << 8,             // \p{N}
  kPatternSpace = 1 << 9,       // \s
  kHasLower = 1 << 10,          // AppendLower() changes it
  kHasCanonical = 1 << 11,      // decomposes in NFD; Hangul follows a rule instead
  kHasCompatibility = 1 << 12,  // decomposes further in NFKD
  kHasOrder = 1 << 13,          // a mark that NFD sorts among its neighbours
};

// A character's behaviour at the border of a grapheme, in the order of make_tables.py.
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

// Traits() of ASCII, the bulk of most texts, and of other characters.
extern const std::array<uint32_t, 128> kAsciiTraits;
uint32_t FarTraits(char32_t c);

// The traits of `c`, and above them its grapheme class.
inline uint32_t Traits(char32_t c) {
  return c < kAsciiTraits.size() ? kAsciiTraits[c] : FarTraits(c);
}

inline GraphemeClass GraphemeClassOf(char32_t c) {
  return static_cast<GraphemeClass>(Traits(c) >> kGraphemeShift);
}

// Appends `c` in lower case, perhaps two characters. Ignores its neighbours: a final sigma is an
// ordinary one.
void AppendLower(char32_t c, std::u32string* text);

// Appends the complete decomposition of `c`. Marks are not sorted yet.
enum class Decomposition { kCanonical, kCompatibility };
void AppendDecomposed(char32_t c, Decomposition decomposition, std::u32string* text);

// A mark's order among its neighbours, 1 to 240; 0 for characters that stay in place.
uint8_t OrderOf(char32_t c);

// The character composed of `first` and `second`; 0 if there is none.
char32_t Composed(char32_t first, char32_t second);

}  // namespace mpsd::text
