#include "text/subword/wordpiece.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "text/unicode/utf8.h"

namespace mpsd::text {
namespace {

int32_t IdBound(const std::vector<VocabularyToken>& tokens) {
  int32_t bound = 0;
  for (const VocabularyToken& token : tokens) bound = std::max(bound, token.id + 1);
  return bound;
}

}  // namespace

absl::StatusOr<WordPiece> WordPiece::Make(const WordPieceOptions& options,
                                          const std::vector<VocabularyToken>& tokens) {
  absl::StatusOr<ByteTrie> trie = BuildVocabularyTrie(tokens);
  if (!trie.ok()) return trie.status();
  if (trie->Find(options.unk_token) < 0) {
    return absl::InvalidArgumentError(absl::StrCat("the vocabulary has no ", options.unk_token));
  }
  return WordPiece(*std::move(trie), options, tokens);
}

WordPiece::WordPiece(ByteTrie trie, const WordPieceOptions& options,
                     const std::vector<VocabularyToken>& tokens)
    : trie_(std::move(trie)),
      continued_(trie_.Walk(options.continuing_subword_prefix)),
      max_characters_(options.max_input_chars_per_word),
      size_(static_cast<int32_t>(tokens.size())),
      id_bound_(IdBound(tokens)),
      unknown_(trie_.Find(options.unk_token)) {}

void WordPiece::Append(const Pieces& pieces, std::vector<int32_t>* ids) const {
  for (size_t i = 0; i < pieces.spans.size(); ++i) {
    const absl::string_view piece = pieces.Piece(i);
    const size_t count_before = ids->size();
    const bool is_short =
        piece.size() <= max_characters_ || CharacterCount(piece) <= max_characters_;
    if (is_short && AppendPiece(piece, ids)) continue;
    ids->resize(count_before);
    ids->push_back(unknown_);
  }
}

bool WordPiece::AppendPiece(absl::string_view piece, std::vector<int32_t>* ids) const {
  uint32_t node = trie_.root();
  for (size_t start = 0; start < piece.size();) {
    size_t end = start;
    int32_t longest = -1;
    for (size_t at = start; at < piece.size() && node != ByteTrie::kNone;) {
      node = trie_.Step(node, piece[at++]);
      if (node == ByteTrie::kNone || trie_.Value(node) < 0) continue;
      longest = trie_.Value(node);
      end = at;
    }
    if (longest < 0) return false;
    ids->push_back(longest);
    start = end;
    node = continued_;
  }
  return true;
}

}  // namespace mpsd::text
