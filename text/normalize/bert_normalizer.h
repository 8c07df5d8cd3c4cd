// BertNormalizer: drops control characters, sets ideographs apart, drops accents and lowers case.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "text/normalize/normalizer.h"

namespace mpsd::text {

// What it does, as tokenizer.json names it, in this order for each character:
//
//   clean_text             "a\tb\x07" → "a b"       spaces of any kind are ' '; controls go
//   handle_chinese_chars   "京都" → " 京  都 "       a space on each side of an ideograph
//   strip_accents          "Ångström" → "Angstrom"   decomposed, and without the marks
//   lowercase              "Straße" → "straße"       each character by itself
//
// Where a file has null for strip_accents, the reader puts lowercase's value there, as the
// reference does. A vocab.txt says none of this: the first two are on, and what stands beside the
// file about upper and lower case decides about the others (server/texts/letter_case.h). A value.
struct BertNormalizerOptions {
  bool clean_text = true;
  bool handle_chinese_chars = true;
  bool strip_accents = true;
  bool lowercase = true;
};

// Step 1 of BERT's tokenizers: their vocabularies are made of texts that were treated like this, so
// other options give other ids. Knows no token. Owned by its Tokenizer. Constant once made.
// Thread-safe.
//
// One pass, in which ASCII costs a table look-up a byte. A text in which marks that stay must
// change places with their neighbours takes a second pass (AppendSorted), and copies of the text;
// such marks are rare: a few of musical notation and of Hangul. So the time grows with the text's
// length alone.
class BertNormalizer : public Normalizer {
 public:
  // Cheap: looks each character of ASCII up once.
  explicit BertNormalizer(const BertNormalizerOptions& options);

  // As Normalizer says. Reserves half as much again as the text has bytes.
  bool Append(absl::string_view text, size_t most_bytes, std::string* normalized) const override;

 private:
  static constexpr uint8_t kDrops = 0xFF;

  // False, and half done, where marks may have to change places.
  bool AppendUnsorted(absl::string_view text, std::string* normalized) const;
  void AppendSorted(absl::string_view text, std::string* normalized) const;

  // Appends a character that is no ASCII. False as above.
  bool AppendCharacter(char32_t c, std::u32string* parts, std::string* normalized) const;
  // Appends a character once its accents are dropped.
  void AppendCased(char32_t c, std::string* normalized) const;

  const BertNormalizerOptions options_;
  std::array<uint8_t, 128> ascii_;  // what becomes of each, or kDrops
};

}  // namespace mpsd::text
