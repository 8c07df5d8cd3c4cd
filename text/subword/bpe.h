// Bpe: the model that joins neighbours, byte-pair encoding.
//
// A piece begins as its characters' tokens. Neighbours of the lowest rank are joined, the leftmost
// first. Most pieces are a token that comes out whole, which is known beforehand. With byte
// fallback a character without a token begins as byte tokens: "<0xE2>".
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
  std::string unk_token;       // for unknown characters; empty: drops them
  bool fuse_unk = false;       // adjacent unknown characters are one token
  bool ignore_merges = false;  // a piece that is a token stays whole
  bool byte_fallback = false;
};

// Thread-safe. A piece of n bytes takes n log n time, and 40 n bytes.
class Bpe : public Model {
 public:
  using Pair = std::pair<absl::string_view, absl::string_view>;

  // `merges` are sorted by rank. INVALID_ARGUMENT: as BuildVocabularyTrie(), or a merge's token or
  // the unknown one is missing.
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
  struct Symbol {  // neighbours are indices; -1: none
    int32_t id;    // -1: joined to the one before
    int32_t before;
    int32_t after;
  };
  struct Candidate {
    uint32_t rank;
    int32_t symbol;                                 // index of the first symbol
    int32_t id;                                     // the joined token
    bool operator<(const Candidate& other) const {  // a heap has the best on top
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
  // Adds nothing and returns false if a byte has no token.
  bool AddBytes(absl::string_view character, std::vector<Symbol>* symbols) const;
  static void Add(int32_t id, std::vector<Symbol>* symbols);
  // Offers the symbol and the next one to the heap, if they may be joined.
  void Offer(int32_t symbol, Work* work) const;
  void JoinAll(Work* work) const;
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
