#include "text/subword/vocabulary_trie.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace mpsd::text {

absl::StatusOr<ByteTrie> BuildVocabularyTrie(const std::vector<VocabularyToken>& tokens) {
  if (tokens.size() > kMaxTokens) {
    return absl::InvalidArgumentError(
        absl::StrCat("the vocabulary has ", tokens.size(), " tokens, more than ", kMaxTokens));
  }
  std::vector<ByteTrie::Entry> entries;
  entries.reserve(tokens.size());
  for (const VocabularyToken& token : tokens) {
    if (token.text.size() > kMaxTokenBytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("the token ", token.id, " has more than ", kMaxTokenBytes, " bytes"));
    }
    if (!token.text.empty()) entries.push_back({token.text, token.id});
  }
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.key < b.key; });
  const auto twice = std::adjacent_find(
      entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.key == b.key; });
  if (twice != entries.end()) {
    return absl::InvalidArgumentError(absl::StrCat("the token '", twice->key, "' is there twice"));
  }
  std::optional<ByteTrie> trie = ByteTrie::Build(entries);
  if (!trie.has_value()) return absl::InvalidArgumentError("the vocabulary has too many bytes");
  return *std::move(trie);
}

}  // namespace mpsd::text
