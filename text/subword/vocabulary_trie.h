// VocabularyTrie: a vocabulary's trie; its tokens may come in any order.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "text/subword/byte_trie.h"

namespace mpsd::text {

inline constexpr size_t kMaxTokens = 1 << 20;  // a larger vocabulary is refused
// A longer token is refused too. A text's time grows with its length and the longest token's, and
// nothing checks the clock within a text.
inline constexpr size_t kMaxTokenBytes = 512;

struct VocabularyToken {
  absl::string_view text;  // the caller's; the vocabulary keeps no view
  int32_t id = 0;
};

// Sorts and builds. Leaves out an empty token, since no text has it. INVALID_ARGUMENT for equal
// tokens, or beyond the bounds above. Pure.
absl::StatusOr<ByteTrie> BuildVocabularyTrie(const std::vector<VocabularyToken>& tokens);

}  // namespace mpsd::text
