// AddedTokens: tokens that are found in a text before everything else, such as [MASK].
//
//   text  ──those not normalized──▶ [MASK] and the text between
//         ──normalizer, then those normalized──▶ further tokens and the text between
//
// A tokenizer.json lists them under `added_tokens`, each with its rules.
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
  std::string content;       // as the text has it once it is normalized, where `normalized`
  bool single_word = false;  // no letter may stand beside it
  bool lstrip = false;       // takes the spaces before it
  bool rstrip = false;       // takes the spaces behind it
  bool normalized = false;   // looked for in the normal text
  bool special = false;
};

// Finds those added tokens that are normalized, or those that are not. Constant after
// construction, so thread-safe.
class AddedTokens {
 public:
  // A token, or a part of the text between tokens.
  struct Part {
    int32_t id;  // -1 for text
    size_t begin;
    size_t end;
  };

  // INVALID_ARGUMENT where a token is empty or two are the same.
  static absl::StatusOr<AddedTokens> Make(std::vector<AddedToken> tokens);

  // Cuts `text` into parts, in its order and without empty ones. At each place the longest token is
  // found, and the first place wins. Without `reads_special` the special ones are ordinary text.
  void Cut(absl::string_view text, bool reads_special, std::vector<Part>* parts) const;

 private:
  AddedTokens(std::vector<AddedToken> tokens, ByteTrie trie);

  // The index of the longest token at `at`, or -1.
  int32_t LongestAt(absl::string_view text, size_t at) const;
  // Widens a token that was found by its rules, and adds it with the text before.
  void Add(const AddedToken& token, absl::string_view text, Part found, size_t* done,
           std::vector<Part>* parts) const;

  const std::vector<AddedToken> tokens_;
  const ByteTrie trie_;  // indices of tokens_
  bool may_begin_[256] = {};
};

}  // namespace mpsd::text
