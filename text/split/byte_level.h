// byte_level: pre-tokenizers of byte-level tokenizers.
#pragma once

#include <optional>

#include "text/split/pre_tokenizer.h"
#include "text/split/word_pattern.h"

namespace mpsd::text {

// Each word of the pattern becomes a piece. Thread-safe.
class PatternSplit : public PreTokenizer {
 public:
  explicit PatternSplit(WordPattern pattern) : pattern_(pattern) {}
  bool Cut(const Pieces& whole, size_t most_bytes, Pieces* cut) const override;

 private:
  const WordPattern pattern_;
};

// A byte becomes the character of its number if that is visible, else one from U+0100 on: a space
// is "Ġ". With `adds_space` a piece gets a leading space; with `cuts` it is cut as GPT-2 does.
// Thread-safe.
class ByteLevel : public PreTokenizer {
 public:
  ByteLevel(bool adds_space, bool cuts) : adds_space_(adds_space), cuts_(cuts) {}
  bool Cut(const Pieces& whole, size_t most_bytes, Pieces* cut) const override;

 private:
  const bool adds_space_;
  const bool cuts_;
};

}  // namespace mpsd::text
