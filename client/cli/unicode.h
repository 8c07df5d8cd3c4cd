// unicode: what BERT's tokenization needs of Unicode. Pure functions, all thread-safe.
//
// The tables cover the characters below U+10000 except the ideographs, which have neither case nor
// accents. Every other character counts as ordinary.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace mpsd::cli {

// The code points of `text`; U+FFFD for each byte that is not UTF-8.
std::vector<char32_t> DecodeUtf8(absl::string_view text);
void AppendUtf8(char32_t c, std::string* text);

bool IsWhitespace(char32_t c);

// Control, format and private-use characters, except whitespace.
bool IsControl(char32_t c);

// ASCII's signs (also "$") and Unicode's punctuation.
bool IsPunctuation(char32_t c);

// Whether the character is a word of its own.
bool IsIdeograph(char32_t c);

// Whether the character is a mark that combines with the character before it.
bool IsAccent(char32_t c);

// Appends `c`, decomposed, without accents, in lower case: "e" for "É".
void AppendFolded(char32_t c, std::vector<char32_t>* text);

}  // namespace mpsd::cli
