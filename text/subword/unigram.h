// Unigram: the model of SentencePiece: takes the tokens with the highest sum of scores.
//
// Viterbi's algorithm. A character that no token begins with is unknown, at 10 below the lowest
// score. Adjacent unknown characters are one token, or with byte fallback byte tokens.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "text/subword/byte_trie.h"
#include "text/subword/model.h"
#include "text/subword/vocabulary_trie.h"

namespace mpsd::text {

// Thread-safe. Time is a piece's length times the longest token's. A piece takes 16 bytes for each
// byte.
class Unigram : public Model {
 public:
  // The `scores` are sorted by id. INVALID_ARGUMENT as BuildVocabularyTrie(). REQUIRES: the tokens'
  // ids are 0 to the number of scores, and `unknown` is one.
  static absl::StatusOr<Unigram> Make(const std::vector<VocabularyToken>& tokens,
                                      std::vector<double> scores, int32_t unknown,
                                      bool falls_back_to_bytes);

  void Append(const Pieces& pieces, std::vector<int32_t>* ids) const override;
  int32_t Find(absl::string_view token) const override { return trie_.Find(token); }
  std::vector<std::string> TokensOf(absl::Span<const int32_t> ids) const override {
    return trie_.KeysOf(ids);
  }
  int32_t size() const override { return static_cast<int32_t>(scores_.size()); }
  int32_t id_bound() const override { return size(); }

 private:
  static constexpr uint32_t kNowhere = ~uint32_t{0};

  // The best way to a place; its last token begins at `start`.
  struct Node {
    double score = 0;
    uint32_t start = kNowhere;
    int32_t id = 0;
  };

  Unigram(ByteTrie trie, std::vector<double> scores, int32_t unknown, bool falls_back_to_bytes);

  void FindPaths(absl::string_view piece, std::vector<Node>* nodes) const;
  void AppendPath(absl::string_view piece, const std::vector<Node>& nodes,
                  std::vector<int32_t>* ids) const;
  // Appends the last byte's id first.
  void AppendUnknown(absl::string_view text, std::vector<int32_t>* ids) const;

  ByteTrie trie_;
  std::vector<double> scores_;
  int32_t unknown_;
  double unknown_score_;
  bool falls_back_to_bytes_;
  std::array<int32_t, 256> byte_ids_;  // -1: the vocabulary has none
};

}  // namespace mpsd::text
