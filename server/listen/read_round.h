// ReadRound: how many bytes one connection may give in one go.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mpsd {

// gRPC reads a connection until nothing is left, and serves nobody else on that thread meanwhile.
// The calls that it has read wait: a client that cancels them at once makes thousands wait. gRPC
// 1.51 also adds the bytes of such a round up to estimate the next read. A client that sends faster
// than gRPC reads takes the sum beyond 2 GiB, where a check of gRPC's ends the process. So a round
// is ended in time: two reads in a row find nothing. The first one may only end a read that has
// bytes already; with the second one gRPC's round is over.
//
//   recvmsg ─▶ MustPause()? ─ no ──▶ the socket ─▶ Took()
//                           └ yes ─▶ EAGAIN ─────▶ FoundNothing(); the descriptor is armed anew
//
// Owned by the connection's place in the ConnectionTable. Pure. Thread-compatible.
class ReadRound {
 public:
  // So many bytes take gRPC some milliseconds. A smaller round would cost large messages time.
  static constexpr uint64_t kBytes = 4 << 20;
  // A client that cancels nothing has fewer calls open: see limits.streams.
  static constexpr uint64_t kCalls = 256;

  // After a round of many calls only little is read at once: the read buffer of a connection may
  // hold thousands of them.
  static constexpr size_t kLittleBytes = 16 << 10;

  size_t most_bytes() const { return was_busy_ ? kLittleBytes : SIZE_MAX; }

  // True when the next read must find nothing.
  bool MustPause() const { return bytes_ >= kBytes || calls_ >= kCalls; }

  // Called after each read, with the calls that began in its bytes.
  void Took(size_t bytes, uint64_t calls) {
    bytes_ += bytes;
    calls_ += calls;
    empty_reads_ = 0;
  }
  void FoundNothing() {
    if (++empty_reads_ == kLastReads) End();
  }

  // Called when a read has left nothing and gRPC knows it.
  void End() {
    const bool was_busy = calls_ >= kCalls;
    *this = ReadRound();
    was_busy_ = was_busy;
  }

 private:
  static constexpr uint32_t kLastReads = 2;

  uint64_t bytes_ = 0;
  uint64_t calls_ = 0;
  uint32_t empty_reads_ = 0;  // in a row
  bool was_busy_ = false;     // many calls began in the round before
};

}  // namespace mpsd
