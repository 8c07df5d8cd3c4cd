// What BERT's tokenization asks of Unicode. All functions are pure and thread-safe.
//
// The tables hold the characters below U+10000 but the ideographs, which have neither case nor
// accents. Beyond that everything is an ordinary character.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace mpsd::cli {

// The code points of `text`; U+FFFD for each byte that is not UTF-8.
std::vector<char32_t> DecodeUtf8(absl::string_view text);
void AppendUtf8(char32_t c, std::string* text);

bool IsWhitespace(char32_t c);

// Control, format and private-use characters, those that are whitespace aside.
bool IsControl(char32_t c);

// ASCII's signs ("$" too) and Unicode's punctuation.
bool IsPunctuation(char32_t c);

// A character that is a word of its own.
bool IsIdeograph(char32_t c);

// A mark that combines with the character before it.
bool IsAccent(char32_t c);

// Appends `c` decomposed, without accents, in lower case: "É" gives "e".
void AppendFolded(char32_t c, std::vector<char32_t>* text);

}  // namespace mpsd::cli
