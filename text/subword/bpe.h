// Bpe: the model that joins neighbours, byte-pair encoding.
//
// A piece begins as the tokens of its characters. The joinable neighbours of the lowest rank are
// joined, the leftmost first, until none are left. Most pieces are a token that comes out whole;
// those tokens are found once, when the model is made. With byte fallback a character without a
// token begins as byte tokens, "<0xE2>", if the vocabulary has all of them.
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
  std::string unk_token;       // for characters without a token; empty: they are dropped
  bool fuse_unk = false;       // adjacent unknown characters are one token
  bool ignore_merges = false;  // a piece that is a token stays whole
  bool byte_fallback = false;
};

// Thread-safe. A piece of n bytes takes n log n time. During Append(), memory is 40 bytes for each
// byte of the longest piece.
class Bpe : public Model {
 public:
  using Pair = std::pair<absl::string_view, absl::string_view>;

  // `merges` are sorted by rank. INVALID_ARGUMENT: errors of BuildVocabularyTrie(), or a missing
  // token of a merge or unknown token.
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
  static constexpr size_t kNearCharacters = 0x180;  // byte-level tokenizers use no others

  struct Merge {
    uint32_t rank;
    int32_t id;
  };
  struct Symbol {  // neighbours by index; -1 if none
    int32_t id;    // -1 once joined to the one before
    int32_t before;
    int32_t after;
  };
  struct Candidate {
    uint32_t rank;
    int32_t symbol;                                 // the first of the two
    int32_t id;                                     // the joined token
    bool operator<(const Candidate& other) const {  // whether it is worse, for a heap
      return rank != other.rank ? rank > other.rank : symbol > other.symbol;
    }
  };
  struct Work {
    std::vector<Symbol> symbols;
    std::vector<Candidate> heap;
  };

  Bpe(ByteTrie trie, const BpeOptions& options, int32_t size);

  static uint64_t Key(int32_t left, int32_t right) {
    return static_cast<uint64_t>(left) << 32 | static_cast<uint32_t>(right);
  }
  void Begin(absl::string_view piece, std::vector<Symbol>* symbols) const;
  // False, with nothing added, if a byte has no token.
  bool AddBytes(absl::string_view character, std::vector<Symbol>* symbols) const;
  static void Add(int32_t id, std::vector<Symbol>* symbols);
  // Adds the symbol and the next one to the heap, if they may be joined.
  void Offer(int32_t symbol, Work* work) const;
  void JoinAll(Work* work) const;
  // Notes in comes_whole_ which tokens, as a piece, come out as themselves.
  void FindWholeTokens(const std::vector<VocabularyToken>& tokens);

  ByteTrie trie_;
  BpeOptions options_;
  int32_t size_;
  int32_t unknown_;                                // -1: none
  std::array<int32_t, kNearCharacters> near_ids_;  // by character; -1: no token
  std::array<int32_t, 256> byte_ids_;              // -1: no token, or no fallback
  absl::flat_hash_map<uint64_t, Merge> merges_;
  std::vector<bool> comes_whole_;  // by id
};

}  // namespace mpsd::text
