// Bpe: the model that joins neighbours, byte-pair encoding.
//
// A piece begins as the tokens of its characters. Of all neighbours that may be joined, those of
// the lowest rank are, the leftmost first, until none are left. Most pieces are a token that comes
// out whole; which tokens do is found once, when the model is made. With byte fallback a character
// that is no token begins as those of its bytes, "<0xE2>", if the vocabulary has them all.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "text/subword/byte_trie.h"
#include "text/subword/model.h"
#include "text/subword/vocabulary_trie.h"

namespace mpsd::text {

struct BpeOptions {
  std::string unk_token;       // for a character without token; empty: such are left out
  bool fuse_unk = false;       // unknown characters that follow each other are one
  bool ignore_merges = false;  // a piece that is a token is that token, whatever is joined
  bool byte_fallback = false;
};

// Thread-safe. The time of a piece of n bytes is n log n; memory is 40 bytes for each byte of the
// longest piece, for the time of Append().
class Bpe : public Model {
 public:
  using Pair = std::pair<absl::string_view, absl::string_view>;

  // `merges` by rank. INVALID_ARGUMENT: the errors of BuildVocabularyTrie(), or a token of a merge
  // or the unknown one is missing.
  static absl::StatusOr<Bpe> Make(const BpeOptions& options,
                                  const std::vector<VocabularyToken>& tokens,
                                  const std::vector<Pair>& merges);

  void Append(const Pieces& pieces, std::vector<int32_t>* ids) const override;
  int32_t Find(absl::string_view token) const override { return trie_.Find(token); }
  std::vector<std::string> TokensOf(absl::Span<const int32_t> ids) const override {
    return trie_.KeysOf(ids);
  }
  int32_t size() const override { return size_; }
  int32_t id_bound() const override { return static_cast<int32_t>(comes_whole_.size()); }

 private:
  static constexpr size_t kNearCharacters = 0x180;  // byte-level tokenizers use none beyond

  struct Merge {
    uint32_t rank;
    int32_t id;
  };
  struct Symbol {  // neighbours by index; -1 where there is none
    int32_t id;    // -1 once it is part of the one before
    int32_t before;
    int32_t after;
  };
  struct Candidate {
    uint32_t rank;
    int32_t symbol;                                 // the first of the two
    int32_t id;                                     // what they become
    bool operator<(const Candidate& other) const {  // the worse one, for a heap
      return rank != other.rank ? rank > other.rank : symbol > other.symbol;
    }
  };
  // The memory of one Append().
  struct Work {
    std::vector<Symbol> symbols;
    std::vector<Candidate> heap;
  };

  Bpe(ByteTrie trie, const BpeOptions& options, int32_t size);

  static uint64_t Key(int32_t left, int32_t right) {
    return static_cast<uint64_t>(left) << 32 | static_cast<uint32_t>(right);
  }
  void Begin(absl::string_view piece, std::vector<Symbol>* symbols) const;
  // False, and nothing is added, where a byte has no token.
  bool AddBytes(absl::string_view character, std::vector<Symbol>* symbols) const;
  static void Add(int32_t id, std::vector<Symbol>* symbols);
  // Adds the symbol and the one behind it to the heap, if they may be joined.
  void Offer(int32_t symbol, Work* work) const;
  void JoinAll(Work* work) const;
  // Notes in comes_whole_ which tokens, as a piece, come out as themselves.
  void FindWholeTokens(const std::vector<VocabularyToken>& tokens);

  ByteTrie trie_;
  BpeOptions options_;
  int32_t size_;
  int32_t unknown_;                                // -1 for none
  std::array<int32_t, kNearCharacters> near_ids_;  // of characters; -1 where there is no token
  std::array<int32_t, 256> byte_ids_;              // -1 where there is no token, or no fallback
  absl::flat_hash_map<uint64_t, Merge> merges_;
  std::vector<bool> comes_whole_;  // by id
};

}  // namespace mpsd::text
