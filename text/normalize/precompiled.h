// Precompiled: the normalizer that SentencePiece compiles into a vocabulary: a table of texts and
// their replacements.
//
// A charsmap is 4 bytes with the size of a trie, the trie, and the replacements, each ended by a
// NUL. The trie is a double array in the format of Darts:
//
//   | 12 | unit unit unit | fi 0 1 0 … |     "ﬁ" ── walked byte by byte ─▶ a leaf ─▶ 0: "fi"
//
// The reference uses the table oddly, and so does this. The shortest key that a grapheme begins
// with replaces the whole grapheme. A grapheme of 6 bytes or more is taken character by character
// instead.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "text/normalize/normalizer.h"

namespace mpsd::text {

// The charsmap comes from an operator's file, by way of base64, and is not trusted:
//
// 1. Make() only checks the sizes, the length of each replacement, and that it is UTF-8.
// 2. Each step stays within the trie. A value that points beyond the replacements, or into the
//    middle of a character, counts as none.
// 3. So the result is valid UTF-8 whatever the charsmap says, and a search takes at most as many
//    steps as its key has bytes.
//
// A lone ASCII byte costs a table look-up; otherwise the grapheme's end is found, and the trie is
// walked. Owned by its Tokenizer. Constant once made. Thread-safe.
class Precompiled : public Normalizer {
 public:
  // Copies the charsmap. INVALID_ARGUMENT if the trie is empty, no whole number of units or longer
  // than the charsmap. The same if a replacement is not UTF-8 or exceeds kMaxReplacementBytes.
  static absl::StatusOr<Precompiled> Make(absl::string_view charsmap);

  // As Normalizer says. Looks at graphemes, so a text cut elsewhere may come out differently.
  bool Append(absl::string_view text, size_t most_bytes, std::string* normalized) const override;

 private:
  static constexpr int64_t kKept = -1;  // no replacement
  static constexpr size_t kMaxReplacementBytes = 256;

  Precompiled(std::vector<uint32_t> units, std::string replacements);

  // Appends the grapheme `text`, or as much of it as `most_bytes` allow.
  void AppendGrapheme(absl::string_view text, size_t most_bytes, std::string* normalized) const;
  // Start of the replacement for the shortest key that `text` begins with, or kKept.
  int64_t Find(absl::string_view text) const;
  void AppendReplacement(int64_t begin, std::string* normalized) const;

  std::vector<uint32_t> units_;
  std::string replacements_;        // ends with a NUL
  std::array<int64_t, 128> ascii_;  // Find() of each
};

}  // namespace mpsd::text
