#include "text/subword/unigram.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "text/unicode/utf8.h"

namespace mpsd::text {
namespace {

constexpr double kUnknownPenalty = 10;

}  // namespace

absl::StatusOr<Unigram> Unigram::Make(const std::vector<VocabularyToken>& tokens,
                                      std::vector<double> scores, int32_t unknown,
                                      bool falls_back_to_bytes) {
  absl::StatusOr<ByteTrie> trie = BuildVocabularyTrie(tokens);
  if (!trie.ok()) return trie.status();
  return Unigram(*std::move(trie), std::move(scores), unknown, falls_back_to_bytes);
}

Unigram::Unigram(ByteTrie trie, std::vector<double> scores, int32_t unknown,
                 bool falls_back_to_bytes)
    : trie_(std::move(trie)),
      scores_(std::move(scores)),
      unknown_(unknown),
      unknown_score_(*std::min_element(scores_.begin(), scores_.end()) - kUnknownPenalty),
      falls_back_to_bytes_(falls_back_to_bytes) {
  for (size_t byte = 0; byte < byte_ids_.size(); ++byte) {
    byte_ids_[byte] = trie_.Find(absl::StrFormat("<0x%02X>", byte));
  }
}

void Unigram::Append(const Pieces& pieces, std::vector<int32_t>* ids) const {
  std::vector<Node> nodes;
  for (size_t i = 0; i < pieces.spans.size(); ++i) {
    const absl::string_view piece = pieces.Piece(i);
    FindPaths(piece, &nodes);
    AppendPath(piece, nodes, ids);
  }
}

void Unigram::FindPaths(absl::string_view piece, std::vector<Node>* nodes) const {
  nodes->assign(piece.size() + 1, Node{});
  const auto offer = [nodes](size_t end, double score, size_t start, int32_t id) {
    Node& node = (*nodes)[end];
    if (node.start != kNowhere && score <= node.score) return;
    node = {score, static_cast<uint32_t>(start), id};
  };
  for (size_t start = 0; start < piece.size();) {
    const double score = (*nodes)[start].score;
    const size_t character_end = start + CharacterSize(piece[start]);
    bool has_character = false;
    uint32_t node = trie_.root();
    for (size_t at = start; at < piece.size();) {
      node = trie_.Step(node, piece[at++]);
      if (node == ByteTrie::kNone) break;
      const int32_t id = trie_.Value(node);
      if (id < 0) continue;
      offer(at, scores_[static_cast<size_t>(id)] + score, start, id);
      has_character = has_character || at == character_end;
    }
    if (!has_character) offer(character_end, unknown_score_ + score, start, unknown_);
    start = character_end;
  }
}

void Unigram::AppendPath(absl::string_view piece, const std::vector<Node>& nodes,
                         std::vector<int32_t>* ids) const {
  const size_t count_before = ids->size();
  for (size_t end = piece.size(); end > 0;) {
    size_t start = nodes[end].start;
    if (nodes[end].id != unknown_) {
      ids->push_back(nodes[end].id);
    } else {
      while (start > 0 && nodes[start].id == unknown_) start = nodes[start].start;
      AppendUnknown(piece.substr(start, end - start), ids);
    }
    end = start;
  }
  std::reverse(ids->begin() + static_cast<int64_t>(count_before), ids->end());
}

void Unigram::AppendUnknown(absl::string_view text, std::vector<int32_t>* ids) const {
  const int32_t known = trie_.Find(text);
  const auto has_id = [this](char byte) { return byte_ids_[static_cast<uint8_t>(byte)] >= 0; };
  if (known >= 0) {
    ids->push_back(known);
  } else if (falls_back_to_bytes_ && std::all_of(text.begin(), text.end(), has_id)) {
    for (size_t i = text.size(); i-- > 0;) ids->push_back(byte_ids_[static_cast<uint8_t>(text[i])]);
  } else {
    ids->push_back(unknown_);
  }
}

}  // namespace mpsd::text
