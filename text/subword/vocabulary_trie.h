// VocabularyTrie: the trie of a vocabulary, whose tokens may come in any order.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "text/subword/byte_trie.h"

namespace mpsd::text {

inline constexpr size_t kMaxTokens = 1 << 20;  // a larger vocabulary is refused
// A longer token is refused, too. The time of a text grows with the lengths of the text and of the
// longest token, and nothing looks at the clock inside of a text.
inline constexpr size_t kMaxTokenBytes = 512;

struct VocabularyToken {
  absl::string_view text;  // the caller's; the vocabulary keeps no view of it
  int32_t id = 0;
};

// Sorts and builds. An empty token is left out, since no text has it. INVALID_ARGUMENT: two tokens
// are the same, or the bounds above are passed. Pure.
absl::StatusOr<ByteTrie> BuildVocabularyTrie(const std::vector<VocabularyToken>& tokens);

}  // namespace mpsd::text
