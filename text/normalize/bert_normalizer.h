// BertNormalizer: drops control characters and accents, sets ideographs apart, lowers case.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "text/normalize/normalizer.h"

namespace mpsd::text {

// The steps for each character, in this order, with their names in tokenizer.json:
//
//   clean_text             "a\tb\x07" → "a b"       spaces of any kind are ' '; controls go
//   handle_chinese_chars   "京都" → " 京  都 "       a space on each side of an ideograph
//   strip_accents          "Ångström" → "Angstrom"   decomposed, and without the marks
//   lowercase              "Straße" → "straße"       each character by itself
//
// If a file has null for strip_accents, the reader uses lowercase's value, as the reference does. A
// vocab.txt says none of this. Then the first two are on, and the files beside it decide about the
// others (server/texts/letter_case.h). A value.
struct BertNormalizerOptions {
  bool clean_text = true;
  bool handle_chinese_chars = true;
  bool strip_accents = true;
  bool lowercase = true;
};

// Step 1 of BERT's tokenizers. Their vocabularies are made from texts treated like this, so other
// options give other ids. Knows no token. Owned by its Tokenizer. Constant once made. Thread-safe.
//
// One pass, in which ASCII costs a table look-up a byte. If marks that stay must change places with
// their neighbours, the text takes a second pass (AppendSorted) and copies. Such marks are rare: a
// few of musical notation and of Hangul. So the time grows only with the text's length.
class BertNormalizer : public Normalizer {
 public:
  // Cheap: looks each ASCII character up once.
  explicit BertNormalizer(const BertNormalizerOptions& options);

  // As Normalizer says. Reserves one and a half times the text's bytes.
  bool Append(absl::string_view text, size_t most_bytes, std::string* normalized) const override;

 private:
  static constexpr uint8_t kDrops = 0xFF;

  // False, and half done, if marks may have to change places.
  bool AppendUnsorted(absl::string_view text, std::string* normalized) const;
  void AppendSorted(absl::string_view text, std::string* normalized) const;

  // Appends a non-ASCII character. False as above.
  bool AppendCharacter(char32_t c, std::u32string* parts, std::string* normalized) const;
  // Appends a character after its accents are dropped.
  void AppendCased(char32_t c, std::string* normalized) const;

  const BertNormalizerOptions options_;
  std::array<uint8_t, 128> ascii_;  // replacement of each, or kDrops
};

}  // namespace mpsd::text
