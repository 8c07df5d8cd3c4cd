// ReadRound: how many bytes one connection may give in one go.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mpsd {

// gRPC reads a connection until nothing is left, and serves nobody else on that thread meanwhile.
// gRPC 1.51 also adds the bytes of such a round up to estimate the next read. A client that sends
// faster than gRPC reads takes the sum beyond 2 GiB, where a check of gRPC's ends the process. So a
// round is ended in time: two reads in a row find nothing. The first one may only end a read that
// has bytes already; with the second one gRPC's round is over.
//
// Owned by the connection's place in the ConnectionTable. Pure. Thread-compatible.
class ReadRound {
 public:
  // So many bytes take gRPC some milliseconds. A smaller round would cost large messages time.
  static constexpr uint64_t kBytes = 4 << 20;

  // True when the next read must find nothing.
  bool MustPause() const { return bytes_ >= kBytes; }

  // Called after each read.
  void Took(size_t bytes) {
    bytes_ += bytes;
    empty_reads_ = 0;
  }
  void FoundNothing() {
    if (++empty_reads_ == kLastReads) *this = ReadRound();
  }

 private:
  static constexpr uint32_t kLastReads = 2;

  uint64_t bytes_ = 0;
  uint32_t empty_reads_ = 0;  // in a row
};

}  // namespace mpsd
