// Splices: large pieces between the bytes of a text.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/strings/string_view.h"

namespace mpsd {

// An answer's large outputs go to the socket from the worker's memory; the text has the rest. The
// owner keeps the pieces alive. Thread-compatible.
//
//   text     | head and the first output's key | the second output's key |
//   splices                                    ^ bytes                   ^ bytes
//   written  | head and the first output's key | bytes | the second output's key | bytes |
class Splices {
 public:
  // Before `text[at]`. REQUIRES: `at` is no smaller than before.
  void Add(size_t at, absl::string_view bytes) {
    list_.push_back({at, bytes});
    bytes_ += bytes.size();
  }

  size_t bytes() const { return bytes_; }
  bool empty() const { return list_.empty(); }

  // Calls take(piece, is_splice) for `count` bytes from `begin` on, splices counted. REQUIRES:
  // there are so many.
  template <typename Take>
  void ForEach(absl::string_view text, size_t begin, size_t count, Take take) const {
    Window window{begin, count};
    size_t done = 0;  // bytes of the text
    for (const Splice& splice : list_) {
      Give(text.substr(done, splice.at - done), false, &window, take);
      Give(splice.bytes, true, &window, take);
      done = splice.at;
    }
    Give(text.substr(done), false, &window, take);
  }

 private:
  struct Splice {
    size_t at = 0;
    absl::string_view bytes;
  };
  struct Window {
    size_t skipped = 0;
    size_t left = 0;
  };

  // Gives the part of `piece` that lies in the window, which moves on.
  template <typename Take>
  static void Give(absl::string_view piece, bool is_splice, Window* window, Take take) {
    const size_t skipped = std::min(window->skipped, piece.size());
    const size_t given = std::min(window->left, piece.size() - skipped);
    window->skipped -= skipped;
    window->left -= given;
    if (given > 0) take(piece.substr(skipped, given), is_splice);
  }

  std::vector<Splice> list_;
  size_t bytes_ = 0;
};

}  // namespace mpsd
