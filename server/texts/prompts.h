// Prompts: an embedder's words in front of texts, by name.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mpsd {

// Known models have up to some hundred prompts, of a few hundred bytes.
inline constexpr size_t kMaxPrompts = 256;
inline constexpr size_t kMaxPromptNameBytes = 128;
inline constexpr size_t kMaxPromptBytes = 4096;

// From a folder's config_sentence_transformers.json:
//
//   {"prompts": {"query": "search_query: ", "document": ""}, "default_prompt_name": "document"}
//
//   request: {"input": "red shoes", "prompt_name": "query"}  ─▶  "search_query: red shoes"
//   request: {"input": "red shoes"}                          ─▶  "red shoes"
//
// The prompt is the one that the request names, else the default, else none. Part of a TextEncoder.
// Thread-compatible.
class Prompts {
 public:
  Prompts() = default;

  // Ignores other keys. INVALID_ARGUMENT, for operators, names the key at fault: no JSON object or
  // too large a text, prompts that are no texts or exceed the bounds, a default without a prompt.
  // Pure.
  static absl::StatusOr<Prompts> Parse(absl::string_view json);

  // Without a name the default, which may be empty. INVALID_ARGUMENT, for the client, lists some
  // names. A view of this object. Pure.
  absl::StatusOr<absl::string_view> Find(const std::optional<std::string>& name) const;

  // They precede a text byte for byte: a space between must be the prompt's last character.
  const std::map<std::string, std::string, std::less<>>& texts() const { return texts_; }
  // Nothing if there is no default.
  const std::optional<std::string>& default_name() const { return default_name_; }

 private:
  std::map<std::string, std::string, std::less<>> texts_;
  std::optional<std::string> default_name_;
};

// From the folder of the tokenizer at `path`; none without such a file. Errors of Parse() and
// ReadFileBeside() name the path. Blocks for the reading. Thread-safe.
absl::StatusOr<Prompts> ReadPromptsBeside(const std::string& path);

}  // namespace mpsd
