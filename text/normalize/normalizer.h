// Normalizer: the first step of a tokenizer: makes texts equal that a model should not tell apart.
#pragma once

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace mpsd::text {

// Constant after construction, so thread-safe.
class Normalizer {
 public:
  virtual ~Normalizer() = default;

  // False, and half done, if `normalized` exceeds `most_bytes` at any time: a file may name steps
  // that make a text grow without bound. REQUIRES: valid UTF-8, which comes out too.
  virtual bool Append(absl::string_view text, size_t most_bytes, std::string* normalized) const = 0;
};

}  // namespace mpsd::text
