// HttpBody: the body of a request, as far as it has come.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace mpsd {

// Bytes in one piece. Memory that was reserved is not touched before bytes come, and of a body that
// was announced only the beginning is reserved: one that says 64 MiB and sends nothing costs some
// addresses and no memory. Part of an HttpRequest. Knows no bound: the connection refuses a body
// that is too large before it asks for room.
//
//   body.Announce(length)                    once, where the length is known
//   Room(n) → a read into it → Grow(m)       m <= n; again and again
//   Append(bytes)                            what came along with the head, and chunks
//   Take()                                   the bytes leave, and with them the room
//
// Invariant: the bytes do not move while a read into Room() is out. So one Room() is out at a time,
// and nothing is appended meanwhile. The connection may Take() the
// bytes then, and keeps them until the read is back.
//
// Thread-compatible: the connection's thread, until Take() gives the bytes away.
class HttpBody {
 public:
  // What a reader of the body may want to touch behind it. The string that Take() returns has this
  // much capacity to spare where room was reserved, so that a reader of JSON needs no copy.
  static constexpr size_t kPadding = 64;
  // What is reserved of an announced body before more of it has come.
  static constexpr size_t kFirstBytes = 1 << 20;

  // So many bytes will come in all. Called before the first of them.
  void Announce(size_t bytes) {
    announced_ = bytes;
    bytes_.reserve(std::min(bytes, kFirstBytes) + kPadding);
  }

  // Where the next `bytes` bytes go. They count once Grow() says so.
  absl::Span<char> Room(size_t bytes) {
    const size_t end = size_ + bytes;
    if (end + kPadding > bytes_.capacity()) {
      bytes_.reserve(std::max(end, std::min(2 * end, announced_)) + kPadding);
    }
    if (bytes_.size() < end) bytes_.resize(end);
    return {bytes_.data() + size_, bytes};
  }
  void Grow(size_t bytes) { size_ += bytes; }

  // Copies `bytes` to the end.
  void Append(absl::string_view bytes) {
    bytes_.resize(size_);
    bytes_.append(bytes.data(), bytes.size());
    size_ = bytes_.size();
  }

  // Gives the bytes to the caller, and is empty then.
  std::string Take() {
    bytes_.resize(size_);
    size_ = announced_ = 0;
    return std::exchange(bytes_, std::string());
  }

  size_t size() const { return size_; }
  absl::string_view view() const { return {bytes_.data(), size_}; }

 private:
  std::string bytes_;
  size_t size_ = 0;  // bytes_ may have more, for a read that is out
  size_t announced_ = 0;
};

}  // namespace mpsd
