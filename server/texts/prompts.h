// Prompts: the words that an embedder wants in front of its texts, by their names.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mpsd {

// What a folder may say at most. Known models have up to some hundred prompts, of a few hundred
// bytes.
inline constexpr size_t kMaxPrompts = 256;
inline constexpr size_t kMaxPromptNameBytes = 128;
inline constexpr size_t kMaxPromptBytes = 4096;

// The prompts of a folder of sentence-transformers, which stand in its
// config_sentence_transformers.json:
//
//   {"prompts": {"query": "search_query: ", "document": ""}, "default_prompt_name": "document"}
//
//   request: {"input": "red shoes", "prompt_name": "query"}  ─▶  "search_query: red shoes"
//   request: {"input": "red shoes"}                          ─▶  "red shoes"
//
// A text is encoded with one prompt right in front of it, as that tool does: the prompt that the
// request names, else the default, else none. Part of a TextEncoder, and so of one generation.
// A value, thread-compatible.
class Prompts {
 public:
  Prompts() = default;  // there are none

  // Of such a file's text; other keys are not looked at. INVALID_ARGUMENT, which is for operators,
  // names the key at fault: no JSON object or a large one, prompts that are no object of texts or
  // beyond the bounds above, a default that is no name of them. Pure.
  static absl::StatusOr<Prompts> Parse(absl::string_view json);

  // The prompt of this name; without a name the default, which may be empty. INVALID_ARGUMENT,
  // which is for the client, lists some of the names that there are. A view of this object. Pure.
  absl::StatusOr<absl::string_view> Find(const std::optional<std::string>& name) const;

  // All texts, by name. They are put in front of a text byte for byte: a space that is to stand
  // between the two is the prompt's last letter.
  const std::map<std::string, std::string, std::less<>>& texts() const { return texts_; }
  // A name of theirs; nothing where there is no default.
  const std::optional<std::string>& default_name() const { return default_name_; }

 private:
  std::map<std::string, std::string, std::less<>> texts_;
  std::optional<std::string> default_name_;
};

// Those of the folder of the tokenizer at `path`; none where no such file lies there. Errors of
// Parse() and ReadFileBeside() name the path. Blocks for the reading. Thread-safe.
absl::StatusOr<Prompts> ReadPromptsBeside(const std::string& path);

}  // namespace mpsd
