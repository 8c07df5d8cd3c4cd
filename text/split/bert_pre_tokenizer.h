// BertPreTokenizer: cuts at spaces, which are dropped, and around each punctuation character.
#pragma once

#include "text/split/pre_tokenizer.h"

namespace mpsd::text {

// Thread-safe. Leaves the bytes as they are.
class BertPreTokenizer : public PreTokenizer {
 public:
  bool Cut(const Pieces& whole, size_t most_bytes, Pieces* cut) const override;
};

}  // namespace mpsd::text
