// WordPiece: turns text into token ids, for BERT's vocabularies.
//
//   "Unaffable!"  →  unaffable, !        lower case, without accents, split at spaces and signs
//                 →  un ##aff ##able !   the longest piece that the vocabulary has, again and again
//                 →  [CLS] … [SEP]       and the ids of these pieces
//
// Three signs of a piece: "##" continues a word, [UNK] stands for a word without pieces, and [PAD]
// fills a row up. A cased vocabulary leaves case and accents as they are. So `mpsd infer --text`
// feeds a text encoder without Python. The ids are those of the library `tokenizers`, which wrote
// tests/client/wordpiece_fixture.json and wordpiece_cased_fixture.json.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/text/vocabulary.h"

namespace mpsd::cli {

inline constexpr size_t kMaxTokens = 256;          // of a text, with its [CLS] and [SEP]
inline constexpr size_t kMaxVocabWords = 1 << 20;  // a vocabulary with more is refused

// The tokens of a text, as far as they fit in a row.
struct Tokens {
  std::vector<int64_t> ids;  // [CLS], the text's tokens and [SEP]: 2 to kMaxTokens ids
  size_t cut_count = 0;      // tokens of the text's end that did not fit and are left out
};

// Holds a vocabulary. Made by the verb `infer`, which owns it. Constant after construction, so
// thread-safe. The names of special tokens are ordinary text when they occur in a text: nobody can
// smuggle a [SEP] in.
class WordPiece {
 public:
  // A word of the vocabulary is a token, and its number the token's id. INVALID_ARGUMENT when
  // [CLS], [SEP] or [UNK] is missing, or there are more than kMaxVocabWords.
  static absl::StatusOr<WordPiece> Parse(const Vocabulary& vocabulary);

  // The tokens of a text. A word of more than 100 characters, or one that no pieces make up, is one
  // [UNK]. Never fails, whatever the bytes are.
  Tokens Encode(absl::string_view text) const;

  // The id that pads a row after its [SEP]; 0 when the vocabulary has no [PAD].
  int64_t pad_id() const { return pad_id_; }

 private:
  WordPiece() = default;

  // Appends the ids of the pieces of one word, or of [UNK].
  void AppendWord(const std::vector<char32_t>& word, std::vector<int64_t>* ids) const;

  absl::flat_hash_map<std::string, int64_t> ids_;
  LetterCase letter_case_ = LetterCase::kLower;
  int64_t cls_id_ = 0;
  int64_t sep_id_ = 0;
  int64_t unk_id_ = 0;
  int64_t pad_id_ = 0;
};

}  // namespace mpsd::cli
