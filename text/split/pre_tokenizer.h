// PreTokenizer: the second step of a tokenizer: cuts a normal text into pieces.
//
// No token crosses the border of a piece. A tokenizer.json names one, or a sequence, each cutting
// the pieces of the one before. The kinds are in the other headers here.
#pragma once

#include "text/split/pieces.h"

namespace mpsd::text {

// Owned by its Tokenizer. Constant after construction, so thread-safe.
class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;

  // Cuts the pieces of `whole`, and may change their bytes. False, and half done, if `cut` exceeds
  // `most_bytes`: a step makes a text at most eight times as long, but a sequence could make it
  // longer. REQUIRES: `cut` is empty.
  virtual bool Cut(const Pieces& whole, size_t most_bytes, Pieces* cut) const = 0;
};

}  // namespace mpsd::text
