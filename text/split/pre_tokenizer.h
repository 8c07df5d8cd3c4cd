// PreTokenizer: the second step of a tokenizer, which cuts a normal text into pieces.
//
// No token reaches over the border of a piece. A tokenizer.json names one, or a sequence of them,
// each of which cuts the pieces of the one before. The kinds are in the other headers here.
#pragma once

#include "text/split/pieces.h"

namespace mpsd::text {

// Owned by its Tokenizer. Constant after construction, so thread-safe.
class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;

  // Cuts the pieces of `whole`, and may change their bytes. False, and half done, where `cut` gets
  // more than `most_bytes`: no step makes a text more than eight times as long, but a sequence
  // could. REQUIRES: `cut` is empty.
  virtual bool Cut(const Pieces& whole, size_t most_bytes, Pieces* cut) const = 0;
};

}  // namespace mpsd::text
