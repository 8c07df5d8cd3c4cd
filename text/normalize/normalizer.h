// Normalizer: the first step of a tokenizer, which makes texts alike that a model shall not tell
// apart.
//
// A tokenizer.json names one, or a sequence of them. Each kind has a file of its own beside this
// one, and tokenizer/normalizer_reader makes it from the JSON.
#pragma once

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace mpsd::text {

// Owned by its Tokenizer. Constant after construction, so thread-safe.
class Normalizer {
 public:
  virtual ~Normalizer() = default;

  // Appends `text` in its normal form. False, and half done, where `normalized` gets more than
  // `most_bytes`, on the way or in the end: a file may name steps that make a text grow without
  // bound. REQUIRES: valid UTF-8, which comes out too.
  virtual bool Append(absl::string_view text, size_t most_bytes, std::string* normalized) const = 0;
};

}  // namespace mpsd::text
