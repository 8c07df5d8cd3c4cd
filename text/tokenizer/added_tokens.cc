#include "text/tokenizer/added_tokens.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "text/subword/vocabulary_trie.h"
#include "text/unicode/characters.h"
#include "text/unicode/utf8.h"

namespace mpsd::text {
namespace {

// REQUIRES: valid UTF-8, and `end` is not its beginning.
size_t CharacterBefore(absl::string_view text, size_t end) {
  size_t begin = end - 1;
  while (ContinuesCharacter(text[begin])) --begin;
  return begin;
}

uint32_t TraitsAt(absl::string_view text, size_t at) {
  const char* next = text.data() + at;
  return Traits(TakeCharacter(&next));
}

bool StandsAlone(absl::string_view text, size_t begin, size_t end) {
  if (begin > 0 && (TraitsAt(text, CharacterBefore(text, begin)) & kWord) != 0) return false;
  return end == text.size() || (TraitsAt(text, end) & kWord) == 0;
}

}  // namespace

absl::StatusOr<AddedTokens> AddedTokens::Make(std::vector<AddedToken> tokens) {
  std::vector<VocabularyToken> contents;
  for (const AddedToken& token : tokens) {
    if (token.content.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("the token ", token.id, " is empty"));
    }
    contents.push_back({token.content, static_cast<int32_t>(contents.size())});
  }
  absl::StatusOr<ByteTrie> trie = BuildVocabularyTrie(contents);
  if (!trie.ok()) return trie.status();
  return AddedTokens(std::move(tokens), *std::move(trie));
}

AddedTokens::AddedTokens(std::vector<AddedToken> tokens, ByteTrie trie)
    : tokens_(std::move(tokens)), trie_(std::move(trie)) {
  for (const AddedToken& token : tokens_) {
    may_begin_[static_cast<uint8_t>(token.content[0])] = true;
  }
}

void AddedTokens::Cut(absl::string_view text, bool reads_special, std::vector<Part>* parts) const {
  size_t done = 0;
  for (size_t at = 0; at < text.size();) {
    const int32_t index = may_begin_[static_cast<uint8_t>(text[at])] ? LongestAt(text, at) : -1;
    if (index < 0) {
      ++at;
      continue;
    }
    const AddedToken& token = tokens_[static_cast<size_t>(index)];
    const size_t end = at + token.content.size();
    const bool is_text =
        (!reads_special && token.special) || (token.single_word && !StandsAlone(text, at, end));
    if (!is_text) Add(token, text, {token.id, at, end}, &done, parts);
    at = end;
  }
  if (done < text.size()) parts->push_back({-1, done, text.size()});
}

int32_t AddedTokens::LongestAt(absl::string_view text, size_t at) const {
  int32_t longest = -1;
  uint32_t node = trie_.root();
  while (at < text.size()) {
    node = trie_.Step(node, text[at++]);
    if (node == ByteTrie::kNone) break;
    if (trie_.Value(node) >= 0) longest = trie_.Value(node);
  }
  return longest;
}

// Spaces that the token before took are no longer there for a token with lstrip, even its own.
void AddedTokens::Add(const AddedToken& token, absl::string_view text, Part found, size_t* done,
                      std::vector<Part>* parts) const {
  if (token.lstrip) found.begin = std::max(found.begin, *done);
  while (token.lstrip && found.begin > *done) {
    const size_t before = CharacterBefore(text, found.begin);
    if ((TraitsAt(text, before) & kSpace) == 0) break;
    found.begin = before;
  }
  while (token.rstrip && found.end < text.size() && (TraitsAt(text, found.end) & kSpace) != 0) {
    found.end += CharacterSize(text[found.end]);
  }
  if (found.begin >= found.end) return;
  if (*done < found.begin) parts->push_back({-1, *done, found.begin});
  parts->push_back(found);
  *done = found.end;
}

}  // namespace mpsd::text
