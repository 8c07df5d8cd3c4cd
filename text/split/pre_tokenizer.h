// PreTokenizer: the second step of a tokenizer: cuts a normal text into pieces, which no token
// crosses.
#pragma once

#include "text/split/pieces.h"

namespace mpsd::text {

// Constant after construction, so thread-safe.
class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;

  // May change the pieces' bytes. False, and half done, if `cut` exceeds `most_bytes`: a step makes
  // a text at most eight times as long, but a sequence could make it longer. REQUIRES: `cut` is
  // empty.
  virtual bool Cut(const Pieces& whole, size_t most_bytes, Pieces* cut) const = 0;
};

}  // namespace mpsd::text
