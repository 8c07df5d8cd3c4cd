// AddedTokens: tokens that are found in a text before everything else, such as [MASK].
//
//   text  ──those not normalized──▶ [MASK] and the text between
//         ──normalizer, then those normalized──▶ further tokens and the text between
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "text/subword/byte_trie.h"

namespace mpsd::text {

inline constexpr size_t kMaxAddedTokens = 1 << 14;

struct AddedToken {
  int32_t id = 0;
  std::string content;       // in its normal form if `normalized`
  bool single_word = false;  // no letter may be adjacent
  bool lstrip = false;       // takes spaces before it
  bool rstrip = false;       // takes spaces behind it
  bool normalized = false;   // searched in the normal text
  bool special = false;
};

// Finds tokens that are normalized, or the others. Constant after construction, so thread-safe.
class AddedTokens {
 public:
  struct Part {
    int32_t id;  // -1 for text
    size_t begin;
    size_t end;
  };

  // INVALID_ARGUMENT for an empty token, or two equal ones.
  static absl::StatusOr<AddedTokens> Make(std::vector<AddedToken> tokens);

  // Gives parts in order, none empty. The first place wins, and there the longest token. Without
  // `reads_special` special tokens are ordinary text.
  void Cut(absl::string_view text, bool reads_special, std::vector<Part>* parts) const;

 private:
  AddedTokens(std::vector<AddedToken> tokens, ByteTrie trie);

  // -1 if none begins there.
  int32_t LongestAt(absl::string_view text, size_t at) const;
  // Widens the token by its rules, and adds the text before.
  void Add(const AddedToken& token, absl::string_view text, Part found, size_t* done,
           std::vector<Part>* parts) const;

  const std::vector<AddedToken> tokens_;
  const ByteTrie trie_;  // indices of tokens_
  bool may_begin_[256] = {};
};

}  // namespace mpsd::text
