// Precompiled: SentencePiece's normalizer: a table of texts and their replacements.
//
// A charsmap is the size of a trie, in 4 bytes, the trie, and the replacements, each ended by a
// NUL. The trie is a double array in the format of Darts:
//
//   | 12 | unit unit unit | fi 0 1 0 … |     "ﬁ" ── walked byte by byte ─▶ a leaf ─▶ 0: "fi"
//
// As in the reference, the shortest key that a grapheme begins with replaces the whole grapheme. A
// grapheme of 6 bytes or more is taken character by character.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "text/normalize/normalizer.h"

namespace mpsd::text {

// The charsmap is untrusted. A value that points beyond the replacements, or into a character,
// counts as none, so the result is valid UTF-8. A search takes at most as many steps as its key has
// bytes. Constant, so thread-safe.
class Precompiled : public Normalizer {
 public:
  // INVALID_ARGUMENT if the trie is empty, no whole number of units or longer than the charsmap, or
  // if a replacement is not UTF-8 or exceeds kMaxReplacementBytes.
  static absl::StatusOr<Precompiled> Make(absl::string_view charsmap);

  // Looks at graphemes, so a text cut elsewhere may come out differently.
  bool Append(absl::string_view text, size_t most_bytes, std::string* normalized) const override;

 private:
  static constexpr int64_t kKept = -1;  // no replacement
  static constexpr size_t kMaxReplacementBytes = 256;

  Precompiled(std::vector<uint32_t> units, std::string replacements);

  void AppendGrapheme(absl::string_view text, size_t most_bytes, std::string* normalized) const;
  // Finds the shortest key that `text` begins with; kKept if there is none.
  int64_t Find(absl::string_view text) const;
  void AppendReplacement(int64_t begin, std::string* normalized) const;

  std::vector<uint32_t> units_;
  std::string replacements_;  // ends with a NUL
  std::array<int64_t, 128> ascii_;
};

}  // namespace mpsd::text
