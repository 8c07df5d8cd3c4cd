// PayloadReader: reads a payload's pieces as one stream.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "proto/base/check.h"
#include "server/request/infer_message.h"

namespace mpsd {

// Reads the bytes of a Payload, which outlives it. REQUIRES for all methods: that many bytes are
// left. Callers compare a client's counts with left() before. Thread-compatible.
class PayloadReader {
 public:
  explicit PayloadReader(const Payload& payload) : payload_(payload), left_(payload.bytes) {}

  uint64_t left() const { return left_; }

  void Read(char* target, uint64_t bytes) {
    while (bytes > 0) {
      const uint64_t step = Step(bytes);
      std::memcpy(target, payload_.pieces[piece_].data() + offset_, step);
      Advance(step);
      target += step;
      bytes -= step;
    }
  }

  void Skip(uint64_t bytes) {
    while (bytes > 0) {
      const uint64_t step = Step(bytes);
      Advance(step);
      bytes -= step;
    }
  }

  // Views, no copy.
  Payload Take(uint64_t bytes) {
    Payload taken;
    while (bytes > 0) {
      const uint64_t step = Step(bytes);
      taken.Append(payload_.pieces[piece_].substr(offset_, step));
      Advance(step);
      bytes -= step;
    }
    return taken;
  }

  // The length before an element of BYTES.
  uint32_t Length() {
    uint32_t length = 0;
    Read(reinterpret_cast<char*>(&length), sizeof(length));
    return length;
  }

 private:
  // How many of `bytes` lie in the current piece.
  uint64_t Step(uint64_t bytes) const {
    MPSD_CHECK(bytes <= left_ && piece_ < payload_.pieces.size());
    return std::min<uint64_t>(bytes, payload_.pieces[piece_].size() - offset_);
  }

  void Advance(uint64_t step) {
    left_ -= step;
    offset_ += step;
    if (offset_ < payload_.pieces[piece_].size()) return;
    ++piece_;
    offset_ = 0;
  }

  const Payload& payload_;
  uint64_t left_;
  size_t piece_ = 0;
  size_t offset_ = 0;
};

}  // namespace mpsd
