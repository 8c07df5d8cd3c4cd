// Splices: large pieces that stand between the bytes of a text and lie elsewhere.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/strings/string_view.h"

namespace mpsd {

// An answer's large outputs go to the socket from the memory in which the worker wrote them. The
// text has everything else of the answer:
//
//   text     | head and the first output's key | the second output's key |
//   splices                                    ^ bytes                   ^ bytes
//   written  | head and the first output's key | bytes | the second output's key | bytes |
//
// The owner keeps the pieces alive. Thread-compatible.
class Splices {
 public:
  // Puts `bytes` before `text[at]`. REQUIRES: `at` is no smaller than those before.
  void Add(size_t at, absl::string_view bytes) {
    list_.push_back({at, bytes});
    bytes_ += bytes.size();
  }

  size_t bytes() const { return bytes_; }
  bool empty() const { return list_.empty(); }

  // Calls take(piece, is_splice) for the `count` bytes from `begin` on, in their order. Counted are
  // the bytes of the text and of the splices. REQUIRES: there are so many.
  template <typename Take>
  void ForEach(absl::string_view text, size_t begin, size_t count, Take take) const {
    Window window{begin, count};
    size_t done = 0;  // of the text
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
