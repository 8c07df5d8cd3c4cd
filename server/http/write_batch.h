// WriteBatch: the bytes that one write gives to a socket.
#pragma once

#include <boost/asio/buffer.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "server/request/splices.h"

namespace mpsd {

// Small pieces are copied together; the kernel takes large ones of an answer from where the worker
// wrote them. TLS needs its bytes in a row, so there everything is copied.
//
//   Append() …, AppendHeld() …  →  Rest() goes to the socket → DidWrite(), until it says true
//     → Clear()
//
// Part of an Http2Connection. Thread-compatible.
class WriteBatch {
 public:
  // Bounded so that no connection keeps its thread for long.
  static constexpr size_t kFullBytes = 256 << 10;

  explicit WriteBatch(bool has_tls) : has_tls_(has_tls) {}

  void Append(absl::string_view bytes) {
    if (bytes.size() >= kLargeBytes) text_.reserve(kFullBytes + kFullBytes / 4);
    text_.append(bytes.data(), bytes.size());
  }

  // `held` keeps the bytes until Clear().
  void AppendHeld(absl::string_view bytes, const std::shared_ptr<void>& held) {
    if (has_tls_) return Append(bytes);
    splices_.Add(text_.size(), bytes);
    if (held_.empty() || held_.back() != held) held_.push_back(held);
  }

  size_t bytes() const { return text_.size() + splices_.bytes(); }
  bool is_full() const { return bytes() >= kFullBytes; }

  absl::InlinedVector<boost::asio::const_buffer, 4> Rest() const {
    absl::InlinedVector<boost::asio::const_buffer, 4> rest;
    splices_.ForEach(text_, written_, bytes() - written_, [&rest](absl::string_view piece, bool) {
      rest.emplace_back(piece.data(), piece.size());
    });
    return rest;
  }

  // True once all is written.
  bool DidWrite(size_t bytes_now) { return (written_ += bytes_now) == bytes(); }

  void Clear() {
    text_.clear();
    splices_ = Splices();
    held_.clear();
    written_ = 0;
  }

  // An idle connection keeps little memory. REQUIRES: Clear() was called.
  void Shrink() {
    if (text_.capacity() > kKeptBytes) std::string().swap(text_);
  }

 private:
  static constexpr size_t kLargeBytes = 8 << 10;  // further pieces like this are likely
  static constexpr size_t kKeptBytes = 64 << 10;

  const bool has_tls_;
  std::string text_;
  Splices splices_;
  std::vector<std::shared_ptr<void>> held_;
  size_t written_ = 0;
};

}  // namespace mpsd
