// HttpBody: the part of a request's body that has come.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace mpsd {

// Bytes in one piece. Reserved memory is not touched before bytes come, and only the beginning of
// an announced body is reserved. So a client that announces 64 MiB and sends nothing costs no
// memory. Unbounded: the connection refuses bodies that are too large.
//
//   body.Announce(length)                    once, where the length is known
//   Room(n) → a read into it → Grow(m)       m <= n; again and again
//   Append(bytes)                            what came along with the head, and chunks
//   Take()                                   the bytes leave, and with them the room
//
// Invariant: the bytes do not move during a read into Room(), so only one Room() is in use, and
// nothing is appended meanwhile. The connection may Take() the bytes during the read, and keeps
// them until its end.
//
// Thread-compatible: the connection's thread, until Take().
class HttpBody {
 public:
  // Bytes behind the body that a reader may touch. If room was reserved, Take()'s string has them
  // as spare capacity, so that a reader of JSON needs no copy.
  static constexpr size_t kPadding = 64;
  // Reserved for an announced body before more of it has come.
  static constexpr size_t kFirstBytes = 1 << 20;

  // Called before the first bytes.
  void Announce(size_t bytes) {
    announced_ = bytes;
    bytes_.reserve(std::min(bytes, kFirstBytes) + kPadding);
  }

  // Room for `bytes` more, which count after Grow().
  absl::Span<char> Room(size_t bytes) {
    const size_t end = size_ + bytes;
    MakeRoom(end);
    if (bytes_.size() < end) bytes_.resize(end);
    return {bytes_.data() + size_, bytes};
  }
  void Grow(size_t bytes) { size_ += bytes; }

  void Append(absl::string_view bytes) {
    bytes_.resize(size_);
    MakeRoom(size_ + bytes.size());
    bytes_.append(bytes.data(), bytes.size());
    size_ = bytes_.size();
  }

  // This is empty afterwards.
  std::string Take() {
    bytes_.resize(size_);
    size_ = announced_ = 0;
    return std::exchange(bytes_, std::string());
  }

  size_t size() const { return size_; }
  absl::string_view view() const { return {bytes_.data(), size_}; }

 private:
  // An announced body grows to its length; another one doubles as it comes.
  void MakeRoom(size_t end) {
    if (end + kPadding <= bytes_.capacity()) return;
    bytes_.reserve((end <= announced_ ? std::min(2 * end, announced_) : 2 * end) + kPadding);
  }

  std::string bytes_;
  size_t size_ = 0;  // bytes_ may have more during a read
  size_t announced_ = 0;
};

}  // namespace mpsd
