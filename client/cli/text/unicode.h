// unicode: what BERT's tokenization needs of Unicode. Pure functions, all thread-safe.
//
// A model sees only token ids, so the ids must be those that its training saw: the functions follow
// what the library `tokenizers` makes of each character, also where Unicode would have another
// opinion. WordPiece (wordpiece.h) is their caller; Table counts characters with DecodeUtf8().
//
// The tables are unicode_tables.inc, which make_unicode_tables.py writes. They cover the characters
// below U+10000 except the ideographs, which have neither case nor accents. Every other character
// counts as ordinary.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace mpsd::cli {

// The code points of `text`; U+FFFD for each byte that is not part of a character, which includes
// overlong forms and surrogates.
std::vector<char32_t> DecodeUtf8(absl::string_view text);

// Appends the one to four bytes of `c`, a code point of DecodeUtf8().
void AppendUtf8(char32_t c, std::string* text);

// What ends a word: Unicode's spaces, tabs and line breaks, the no-break space included.
bool IsWhitespace(char32_t c);

// Control, format and private-use characters, except tab, line feed and carriage return. They are
// dropped from a text.
bool IsControl(char32_t c);

// ASCII's signs, also those that Unicode calls symbols, such as "$", and Unicode's punctuation.
// Each is a word of its own.
bool IsPunctuation(char32_t c);

// A Chinese, Japanese or Korean ideograph. Each is a word of its own, since the texts have no
// spaces.
bool IsIdeograph(char32_t c);

// A mark that combines with the character before it. It is dropped, so "é" in two characters is
// "e".
bool IsAccent(char32_t c);

// Appends `c`, decomposed, without accents, in lower case: "e" for "É", and two or three letters
// for a Hangul syllable. Appends at least one character.
void AppendFolded(char32_t c, std::vector<char32_t>* text);

}  // namespace mpsd::cli
