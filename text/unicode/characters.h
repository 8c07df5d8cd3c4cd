// characters: what each character is, and what it becomes, for a tokenizer.
//
// The tables are tables.inc, which make_tables.py writes. They say what the library `tokenizers`
// believes and not what Unicode says: parts of that library have tables of several old versions of
// Unicode, and a model sees only ids, which must be those of its training. Everything here is a
// pure function, thread-safe, and takes any code point that is no surrogate.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace mpsd::text {

// Bits of Traits(), in the order of make_tables.py.
enum Trait : uint32_t {
  kSpace = 1 << 0,           // ends a word
  kControl = 1 << 1,         // BERT drops it: control, format and private characters, U+FFFD
  kPunctuation = 1 << 2,     // a word of its own for BERT: ASCII's signs, Unicode's punctuation
  kIdeograph = 1 << 3,       // a word of its own for BERT: a CJK ideograph
  kNonspacingMark = 1 << 4,  // an accent for BERT
  kMark = 1 << 5,            // an accent for the normalizer StripAccents
  kWord = 1 << 6,            // a character of words, for added tokens that are words of their own
  kLetter = 1 << 7,          // \p{L} of patterns
  kNumber = 1 << 8,          // \p{N}
  kPatternSpace = 1 << 9,    // \s
  kHasLower = 1 << 10,       // AppendLower() changes it
  kHasCanonical = 1 << 11,   // decomposes in NFD; Hangul syllables follow a rule instead
  kHasCompatibility = 1 << 12,  // decomposes further in NFKD
  kHasOrder = 1 << 13,          // a mark that NFD sorts among its neighbours
};

// How a character behaves at the border of a grapheme, in the order of make_tables.py.
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
inline constexpr int kGraphemeShift = 14;  // behind the traits

// Traits() of ASCII, of which most texts are, and of the others.
extern const std::array<uint32_t, 128> kAsciiTraits;
uint32_t FarTraits(char32_t c);

// The traits of `c`, and above them its grapheme class.
inline uint32_t Traits(char32_t c) {
  return c < kAsciiTraits.size() ? kAsciiTraits[c] : FarTraits(c);
}

inline GraphemeClass GraphemeClassOf(char32_t c) {
  return static_cast<GraphemeClass>(Traits(c) >> kGraphemeShift);
}

// Appends `c` in lower case, which may be two characters. Without regard to its neighbours: a final
// sigma is an ordinary one.
void AppendLower(char32_t c, std::u32string* text);

// Appends what `c` decomposes to, once nothing decomposes further. Marks are not sorted yet.
enum class Decomposition { kCanonical, kCompatibility };
void AppendDecomposed(char32_t c, Decomposition decomposition, std::u32string* text);

// The place of a mark among its neighbours, 1 to 240; 0 for what stays where it stands.
uint8_t OrderOf(char32_t c);

// The one character that `first` and `second` are together; 0 where there is none.
char32_t Composed(char32_t first, char32_t second);

}  // namespace mpsd::text
