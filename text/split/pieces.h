// Pieces: a text between its normalizer and its model, cut into pieces that become tokens.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace mpsd::text {

// Its memory is used again for the next text. Invariants: spans ascend, do not overlap, are not
// empty, and lie within the bytes; bytes are valid UTF-8.
struct Pieces {
  struct Span {
    size_t begin;
    size_t end;
  };

  std::string bytes;
  std::vector<Span> spans;

  absl::string_view Piece(size_t index) const {
    return absl::string_view(bytes).substr(spans[index].begin,
                                           spans[index].end - spans[index].begin);
  }

  // Leaves an empty span out.
  void Add(size_t begin, size_t end) {
    if (begin < end) spans.push_back({begin, end});
  }
};

}  // namespace mpsd::text
