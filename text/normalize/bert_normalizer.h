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
// If strip_accents is null, the reader uses lowercase's value, as the reference does. For a
// vocab.txt the first two are on, and files beside it decide about the others
// (server/texts/letter_case.h). A value.
struct BertNormalizerOptions {
  bool clean_text = true;
  bool handle_chinese_chars = true;
  bool strip_accents = true;
  bool lowercase = true;
};

// One pass. If marks must change places, which is rare, the text takes a second pass
// (AppendSorted). Constant, so thread-safe.
class BertNormalizer : public Normalizer {
 public:
  explicit BertNormalizer(const BertNormalizerOptions& options);

  bool Append(absl::string_view text, size_t most_bytes, std::string* normalized) const override;

 private:
  static constexpr uint8_t kDrops = 0xFF;

  // False, and half done, if marks may have to change places.
  bool AppendUnsorted(absl::string_view text, std::string* normalized) const;
  void AppendSorted(absl::string_view text, std::string* normalized) const;

  // Takes a character beyond ASCII. False as above.
  bool AppendCharacter(char32_t c, std::u32string* parts, std::string* normalized) const;
  void AppendCased(char32_t c, std::string* normalized) const;

  const BertNormalizerOptions options_;
  std::array<uint8_t, 128> ascii_;  // replacement of each, or kDrops
};

}  // namespace mpsd::text
