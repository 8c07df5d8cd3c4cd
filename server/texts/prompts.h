// Prompts: words that an embedder wants in front of its texts, by name.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mpsd {

// Limits of a folder's prompts. Known models have up to some hundred, of a few hundred bytes.
inline constexpr size_t kMaxPrompts = 256;
inline constexpr size_t kMaxPromptNameBytes = 128;
inline constexpr size_t kMaxPromptBytes = 4096;

// The prompts of a sentence-transformers folder, from config_sentence_transformers.json:
//
//   {"prompts": {"query": "search_query: ", "document": ""}, "default_prompt_name": "document"}
//
//   request: {"input": "red shoes", "prompt_name": "query"}  ─▶  "search_query: red shoes"
//   request: {"input": "red shoes"}                          ─▶  "red shoes"
//
// A text is encoded with one prompt right in front, as that tool does: the prompt that the request
// names, else the default, else none. Part of a TextEncoder, and so of one generation. A value,
// thread-compatible.
class Prompts {
 public:
  Prompts() = default;  // there are none

  // Reads such a file's text and ignores other keys. INVALID_ARGUMENT, for operators, names the key
  // at fault. The text is no JSON object or too large, prompts are no object of texts or exceed the
  // bounds above, or the default names none of them. Pure.
  static absl::StatusOr<Prompts> Parse(absl::string_view json);

  // The prompt of this name; without a name the default, which may be empty. INVALID_ARGUMENT, for
  // the client, lists some of the names. A view of this object. Pure.
  absl::StatusOr<absl::string_view> Find(const std::optional<std::string>& name) const;

  // All prompts, by name. They precede a text byte for byte: a space between the two must be the
  // prompt's last character.
  const std::map<std::string, std::string, std::less<>>& texts() const { return texts_; }
  // One of their names; nothing if there is no default.
  const std::optional<std::string>& default_name() const { return default_name_; }

 private:
  std::map<std::string, std::string, std::less<>> texts_;
  std::optional<std::string> default_name_;
};

// The prompts in the folder of the tokenizer at `path`; none without such a file. Errors of Parse()
// and ReadFileBeside() name the path. Blocks for the reading. Thread-safe.
absl::StatusOr<Prompts> ReadPromptsBeside(const std::string& path);

}  // namespace mpsd
