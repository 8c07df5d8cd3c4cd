#include "text/subword/bpe.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "text/unicode/utf8.h"

namespace mpsd::text {

absl::StatusOr<Bpe> Bpe::Make(const BpeOptions& options, const std::vector<VocabularyToken>& tokens,
                              const std::vector<Pair>& merges) {
  absl::StatusOr<ByteTrie> trie = BuildVocabularyTrie(tokens);
  if (!trie.ok()) return trie.status();
  Bpe bpe(*std::move(trie), options, static_cast<int32_t>(tokens.size()));
  if (!options.unk_token.empty() && bpe.unknown_ < 0) {
    return absl::InvalidArgumentError(absl::StrCat("the vocabulary has no ", options.unk_token));
  }
  bpe.merges_.reserve(merges.size());
  for (size_t rank = 0; rank < merges.size(); ++rank) {
    const auto& [left, right] = merges[rank];
    const int32_t left_id = bpe.Find(left);
    const int32_t right_id = bpe.Find(right);
    const int32_t id = bpe.Find(absl::StrCat(left, right));
    if (left_id < 0 || right_id < 0 || id < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("the vocabulary lacks a token of the merge '", left, " ", right, "'"));
    }
    bpe.merges_[Key(left_id, right_id)] = {static_cast<uint32_t>(rank), id};
  }
  bpe.FindWholeTokens(tokens);
  return bpe;
}

Bpe::Bpe(ByteTrie trie, const BpeOptions& options, int32_t size)
    : trie_(std::move(trie)),
      options_(options),
      size_(size),
      unknown_(options.unk_token.empty() ? -1 : trie_.Find(options.unk_token)) {
  for (size_t c = 0; c < near_ids_.size(); ++c) {
    std::string character;
    AppendUtf8(static_cast<char32_t>(c), &character);
    near_ids_[c] = trie_.Find(character);
  }
  for (size_t byte = 0; byte < byte_ids_.size(); ++byte) {
    byte_ids_[byte] = options.byte_fallback ? trie_.Find(absl::StrFormat("<0x%02X>", byte)) : -1;
  }
}

void Bpe::FindWholeTokens(const std::vector<VocabularyToken>& tokens) {
  Work work;
  for (const VocabularyToken& token : tokens) {
    const auto id = static_cast<size_t>(token.id);
    if (comes_whole_.size() <= id) comes_whole_.resize(id + 1);
    Begin(token.text, &work.symbols);
    JoinAll(&work);
    size_t count = 0;
    for (const Symbol& symbol : work.symbols) count += symbol.id >= 0 ? 1 : 0;
    const bool is_itself = count == 1 && work.symbols[0].id == token.id;
    comes_whole_[id] = options_.ignore_merges || is_itself;
  }
}

void Bpe::Append(const Pieces& pieces, std::vector<int32_t>* ids) const {
  Work work;
  for (size_t i = 0; i < pieces.spans.size(); ++i) {
    const absl::string_view piece = pieces.Piece(i);
    const int32_t whole = trie_.Find(piece);
    if (whole >= 0 && comes_whole_[static_cast<size_t>(whole)]) {
      ids->push_back(whole);
      continue;
    }
    Begin(piece, &work.symbols);
    JoinAll(&work);
    for (const Symbol& symbol : work.symbols) {
      if (symbol.id >= 0) ids->push_back(symbol.id);
    }
  }
}

void Bpe::Add(int32_t id, std::vector<Symbol>* symbols) {
  const auto index = static_cast<int32_t>(symbols->size());
  symbols->push_back({id, index - 1, index + 1});
}

bool Bpe::AddBytes(absl::string_view character, std::vector<Symbol>* symbols) const {
  for (const char byte : character) {
    if (byte_ids_[static_cast<uint8_t>(byte)] < 0) return false;
  }
  for (const char byte : character) Add(byte_ids_[static_cast<uint8_t>(byte)], symbols);
  return true;
}

// As in the reference, an unknown token waits for the next character with its own token, so byte
// tokens pass it.
void Bpe::Begin(absl::string_view piece, std::vector<Symbol>* symbols) const {
  symbols->clear();
  bool unknown_waits = false;
  const char* const end = piece.data() + piece.size();
  for (const char* at = piece.data(); at != end;) {
    const char* const begin = at;
    const char32_t c = TakeCharacter(&at);
    const absl::string_view character(begin, static_cast<size_t>(at - begin));
    const int32_t known = c < near_ids_.size() ? near_ids_[c] : trie_.Find(character);
    if (known < 0 && AddBytes(character, symbols)) continue;
    if (unknown_waits && (known >= 0 || !options_.fuse_unk)) Add(unknown_, symbols);
    unknown_waits = known < 0 && unknown_ >= 0;
    if (known >= 0) Add(known, symbols);
  }
  if (unknown_waits) Add(unknown_, symbols);
  if (!symbols->empty()) symbols->back().after = -1;
}

void Bpe::Offer(int32_t symbol, Work* work) const {
  const Symbol& left = work->symbols[static_cast<size_t>(symbol)];
  if (left.after < 0) return;
  const Symbol& right = work->symbols[static_cast<size_t>(left.after)];
  const auto merge = merges_.find(Key(left.id, right.id));
  if (merge == merges_.end()) return;
  work->heap.push_back({merge->second.rank, symbol, merge->second.id});
  std::push_heap(work->heap.begin(), work->heap.end());
}

// A heap entry is stale if its two symbols now become another token, or none.
void Bpe::JoinAll(Work* work) const {
  std::vector<Symbol>& symbols = work->symbols;
  work->heap.clear();
  for (size_t i = 0; i < symbols.size(); ++i) Offer(static_cast<int32_t>(i), work);
  while (!work->heap.empty()) {
    const Candidate best = work->heap.front();
    std::pop_heap(work->heap.begin(), work->heap.end());
    work->heap.pop_back();
    Symbol& left = symbols[static_cast<size_t>(best.symbol)];
    if (left.id < 0 || left.after < 0) continue;
    Symbol& right = symbols[static_cast<size_t>(left.after)];
    const auto merge = merges_.find(Key(left.id, right.id));
    if (merge == merges_.end() || merge->second.id != best.id) continue;
    left.id = best.id;
    left.after = right.after;
    right.id = -1;
    if (left.after >= 0) symbols[static_cast<size_t>(left.after)].before = best.symbol;
    if (left.before >= 0) Offer(left.before, work);
    Offer(best.symbol, work);
  }
}

}  // namespace mpsd::text
