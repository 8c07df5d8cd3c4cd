// VocabularyTrie: a vocabulary's trie; tokens come in any order.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "text/subword/byte_trie.h"

namespace mpsd::text {

inline constexpr size_t kMaxTokens = 1 << 20;  // a larger vocabulary is refused
// A longer token is refused: a text's time grows with the longest token's, and nothing checks the
// clock.
inline constexpr size_t kMaxTokenBytes = 512;

struct VocabularyToken {
  absl::string_view text;  // the caller's
  int32_t id = 0;
};

// Leaves out an empty token, since no text has it. INVALID_ARGUMENT for equal tokens, or beyond the
// bounds. Pure.
absl::StatusOr<ByteTrie> BuildVocabularyTrie(const std::vector<VocabularyToken>& tokens);

}  // namespace mpsd::text
