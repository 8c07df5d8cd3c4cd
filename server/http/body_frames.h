// BodyFrames: where one read puts DATA frames of a body that goes straight to its place.
#pragma once

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace mpsd {

// Frames of the largest size are expected, one behind the other. Their bytes go to the place
// without a copy, all else to a buffer:
//
//   one read       | rest of the frame | head | frame     | head | last frame | others
//   goes to        | place ........... | [0]  | ......... | [1]  | ........ end of the place
//                                                                              | buffer
//
// If other frames come, they are copied together before anybody reads them: a task may give up its
// place meanwhile. Lives on its connection's thread, for one read.
class BodyFrames {
 public:
  // The frame that has begun brings the first `bytes` of `place`. REQUIRES: they fit. All outlive
  // this.
  BodyFrames(uint32_t stream, size_t bytes, absl::Span<char> place, std::string* buffer);
  BodyFrames(const BodyFrames&) = delete;  // `targets_` name `heads_`
  BodyFrames& operator=(const BodyFrames&) = delete;

  absl::Span<const boost::asio::mutable_buffer> targets() const {
    return absl::MakeConstSpan(targets_.data(), targets_count_);
  }

  // Calls take(piece) for the `count` bytes read, in order, until one call is false. False then.
  template <typename Take>
  bool Give(size_t count, Take take) {
    const size_t begun = std::min(count, targets_[0].size());
    size_t left = count - begun;
    size_t other = 1;  // the first target that is no expected frame's
    for (; left >= kHeadBytes && other + 1 < targets_count_ && IsExpected(other); other += 2) {
      left -= std::min(left, kHeadBytes + targets_[other + 1].size());
    }
    const absl::string_view rest =
        other + 1 == targets_count_ ? Text(other, left) : Gathered(other, left);
    if (begun > 0 && !take(Text(0, begun))) return false;
    count -= begun + left;
    for (size_t next = 1; next < other; next += 2) {
      const size_t piece = std::min(count - kHeadBytes, targets_[next + 1].size());
      if (!take(Text(next, kHeadBytes)) || !take(Text(next + 1, piece))) return false;
      count -= kHeadBytes + piece;
    }
    return rest.empty() || take(rest);
  }

 private:
  static constexpr size_t kHeadBytes = 9;
  static constexpr size_t kFrameBytes = 16 << 10;  // HTTP/2's default limit, which ours is
  static constexpr size_t kMostFrames = 31;        // Asio reads into at most 64 targets

  absl::string_view Text(size_t target, size_t bytes) const {
    return {static_cast<const char*>(targets_[target].data()), bytes};
  }
  // Whether `target` has the head of the frame behind it.
  bool IsExpected(size_t target) const;
  // The `count` bytes from there on, in one piece.
  absl::string_view Gathered(size_t target, size_t count);

  const uint32_t stream_;
  std::array<std::array<char, kHeadBytes>, kMostFrames> heads_;
  std::array<boost::asio::mutable_buffer, 2 * kMostFrames + 2> targets_;
  size_t targets_count_ = 0;
  std::string gathered_;
};

}  // namespace mpsd
