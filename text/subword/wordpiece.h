// WordPiece: the model of BERT's tokenizers.
//
//   unaffable  →  un ##aff ##able     the longest token that the vocabulary has, again and again
//
// A piece that no tokens make up, or that is too long, is one unknown token. The longest token is
// never given back: with "ab", "abc" and "##cd" the piece "abcd" is unknown, as in the reference.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "text/subword/byte_trie.h"
#include "text/subword/model.h"
#include "text/subword/vocabulary_trie.h"

namespace mpsd::text {

// tokenizer.json's names and defaults; the defaults also apply to a vocab.txt. A value.
struct WordPieceOptions {
  std::string unk_token = "[UNK]";
  std::string continuing_subword_prefix = "##";
  size_t max_input_chars_per_word = 100;  // characters, not bytes; a longer piece is unknown
};

// Constant, so thread-safe. Time is a piece's length times the longest token's. Tokens that
// continue a piece begin at the trie's node behind the prefix.
class WordPiece : public Model {
 public:
  // INVALID_ARGUMENT as BuildVocabularyTrie(), or if the unknown token is missing. Ids may be in
  // any order and have gaps.
  static absl::StatusOr<WordPiece> Make(const WordPieceOptions& options,
                                        const std::vector<VocabularyToken>& tokens);

  void Append(const Pieces& pieces, std::vector<int32_t>* ids) const override;
  int32_t Find(absl::string_view token) const override { return trie_.Find(token); }
  std::vector<std::string> TokensOf(absl::Span<const int32_t> ids) const override {
    return trie_.KeysOf(ids);
  }

  // Less than id_bound() if ids have gaps.
  int32_t size() const override { return size_; }
  int32_t id_bound() const override { return id_bound_; }

 private:
  WordPiece(ByteTrie trie, const WordPieceOptions& options,
            const std::vector<VocabularyToken>& tokens);

  bool AppendPiece(absl::string_view piece, std::vector<int32_t>* ids) const;

  const ByteTrie trie_;
  const uint32_t continued_;  // node behind the prefix; kNone: no token has it
  const size_t max_characters_;
  const int32_t size_;
  const int32_t id_bound_;
  const int32_t unknown_;
};

}  // namespace mpsd::text
