// WordPattern: where words of byte-level tokenizers end, by their regular expressions.
//
// Known expressions are recognized by their exact text; there is no engine for others:
//
//   GPT-2, RoBERTa   's|'t|… ?letters| ?numbers| ?others|spaces without the last|spaces
//   Llama 3, Qwen 2  the same, with any sign before letters, short numbers, line ends apart
#pragma once

#include <cstddef>
#include <optional>

#include "absl/strings/string_view.h"

namespace mpsd::text {

// A value. Pure, thread-safe.
class WordPattern {
 public:
  // ByteLevel has this pattern built in.
  static WordPattern Gpt2() { return WordPattern(0); }

  // Nothing if the expression is unknown.
  static std::optional<WordPattern> Of(absl::string_view expression);

  // REQUIRES: valid UTF-8, begin < text.size().
  size_t WordEnd(absl::string_view text, size_t begin) const;

 private:
  explicit WordPattern(size_t max_digits) : max_digits_(max_digits) {}

  bool is_gpt2() const { return max_digits_ == 0; }
  size_t Letters(absl::string_view text, size_t begin) const;
  size_t Numbers(absl::string_view text, size_t begin) const;
  size_t Others(absl::string_view text, size_t begin) const;
  size_t Spaces(absl::string_view text, size_t begin) const;

  size_t max_digits_;  // limit of a number; 0 for GPT-2's pattern, which has none
};

}  // namespace mpsd::text
