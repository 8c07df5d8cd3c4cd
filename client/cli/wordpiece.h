// WordPiece: text to token ids, as BERT's uncased vocabularies want it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mpsd::cli {

inline constexpr size_t kMaxTokens = 256;  // a text, its [CLS] and [SEP] counted
inline constexpr size_t kMaxVocabWords = 1 << 20;

// Immutable after construction, so thread-safe. Holds the vocabulary. Names of special tokens that
// stand in a text are ordinary text.
class WordPiece {
 public:
  // `vocab` is the content of a vocab.txt: one token a line, its id the line's number from 0.
  // INVALID_ARGUMENT when [CLS], [SEP] or [UNK] is not in it.
  static absl::StatusOr<WordPiece> Parse(absl::string_view vocab);
  static absl::StatusOr<WordPiece> ReadFile(const std::string& path);

  // [CLS], the text's tokens, [SEP]. A text that is too long loses its end.
  std::vector<int64_t> Encode(absl::string_view text) const;

  // What fills a row behind its [SEP]; 0 where the vocabulary has no [PAD].
  int64_t pad_id() const { return pad_id_; }

 private:
  WordPiece() = default;

  void AppendWord(const std::vector<char32_t>& word, std::vector<int64_t>* ids) const;

  absl::flat_hash_map<std::string, int64_t> ids_;
  int64_t cls_id_ = 0;
  int64_t sep_id_ = 0;
  int64_t unk_id_ = 0;
  int64_t pad_id_ = 0;
};

}  // namespace mpsd::cli
