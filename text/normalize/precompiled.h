// Precompiled: the normalizer that SentencePiece compiles into a vocabulary, a table of texts and
// their replacements.
//
// A charsmap is 4 bytes with the size of a trie, the trie, and the replacements, each ended by a
// NUL. The trie is a double array in the format of Darts:
//
//   | 12 | unit unit unit | fi 0 1 0 … |     "ﬁ" ── walked byte by byte ─▶ a leaf ─▶ 0: "fi"
//
// The way the table is used has oddities,
// which are the reference's: the shortest key that a grapheme begins with replaces all of the
// grapheme; one of 6 bytes and more is taken character by character instead.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "text/normalize/normalizer.h"

namespace mpsd::text {

// The charsmap comes from the file of an operator, by way of base64, and is not trusted:
//
// 1. Make() checks the sizes, that the replacements are UTF-8, how long each is, and nothing else.
// 2. Each step through the trie stays within the trie; a value that points beyond the replacements,
//    or into the middle of a character, counts as none.
// 3. So the result is valid UTF-8 whatever the charsmap says, and a search takes at most as many
//    steps as its key has bytes.
//
// A byte of ASCII that stands alone costs a table look-up; for others the end of the grapheme is
// looked for, and the trie is walked. Owned by its Tokenizer. Constant once made. Thread-safe.
class Precompiled : public Normalizer {
 public:
  // Copies the charsmap. INVALID_ARGUMENT: the trie is empty, no whole number of units or longer
  // than the charsmap, the replacements are no UTF-8, or one of them has more than
  // kMaxReplacementBytes.
  static absl::StatusOr<Precompiled> Make(absl::string_view charsmap);

  // As Normalizer says. Looks at graphemes, so a text that is cut elsewhere may come out otherwise.
  bool Append(absl::string_view text, size_t most_bytes, std::string* normalized) const override;

 private:
  static constexpr int64_t kKept = -1;  // no replacement
  static constexpr size_t kMaxReplacementBytes = 256;

  Precompiled(std::vector<uint32_t> units, std::string replacements);

  // Appends a grapheme, of which `text` is the bytes, or as much of it as `most_bytes` allow.
  void AppendGrapheme(absl::string_view text, size_t most_bytes, std::string* normalized) const;
  // Where the replacement of the shortest key begins that `text` begins with, or kKept.
  int64_t Find(absl::string_view text) const;
  void AppendReplacement(int64_t begin, std::string* normalized) const;

  std::vector<uint32_t> units_;
  std::string replacements_;        // ends with a NUL
  std::array<int64_t, 128> ascii_;  // Find() of each
};

}  // namespace mpsd::text
