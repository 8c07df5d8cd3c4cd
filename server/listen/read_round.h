// ReadRound: how many bytes one connection may give in one go.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "proto/base/clock.h"

namespace mpsd {

// A gRPC thread reads a connection until nothing is left, and serves nobody else meanwhile. The
// calls that it has read wait, and a client that cancels calls at once can make thousands wait.
// Version 1.51 also adds up the bytes of such a round to estimate the next read. A client that
// sends faster than gRPC reads takes the sum beyond 2 GiB, where a check of gRPC ends the process.
// So this ends a round in time: two reads in a row find nothing. The first may only end a read that
// has bytes already; the second ends gRPC's round.
//
//   recvmsg ─▶ MustPause()? ─ no ──▶ the socket ─▶ Took()
//                           └ yes ─▶ EAGAIN ─────▶ FoundNothing(); the descriptor is armed anew
//
// Calls are counted if frames can be seen. Over TLS they cannot, so the round is bounded in time.
// It begins with few bytes. Then a read finds nothing, so that gRPC uses these bytes. The time
// until gRPC reads again is their cost. If that was little, the next read may have more. Large
// messages cost little, hundreds of calls do not.
//
// Owned by the connection's place in the ConnectionTable. Pure. Thread-compatible.
class ReadRound {
 public:
  // So many bytes take gRPC some milliseconds. Smaller rounds would delay large messages.
  static constexpr uint64_t kBytes = 4 << 20;
  // A client that cancels nothing has fewer calls open: see limits.streams.
  static constexpr uint64_t kCalls = 256;
  // How long gRPC may take for a round whose calls are not counted.
  static constexpr int64_t kNs = kNsPerMs;

  // Read size after a round of many calls, until there are few: a connection's read buffer may hold
  // thousands. If calls are not counted, a round begins so.
  static constexpr size_t kLittleBytes = 4 << 10;
  static constexpr uint64_t kFewCalls = 64;
  // Growth of the read size after cheap bytes, and its limit: the next bytes may be expensive.
  static constexpr size_t kGrowth = 4;
  static constexpr size_t kMostCheapBytes = 64 << 10;

  // `counts_calls` is false if the connection's frames cannot be seen.
  explicit ReadRound(bool counts_calls = true)
      : counts_calls_(counts_calls), most_bytes_(counts_calls ? SIZE_MAX : kLittleBytes) {}

  // From now on frames are seen and calls counted.
  void SeesCalls() {
    if (counts_calls_) return;
    counts_calls_ = true;
    most_bytes_ = SIZE_MAX;
  }

  size_t most_bytes() const { return most_bytes_ - read_bytes_; }

  // True if Continue() must be called before the next read.
  bool is_timed() const { return !counts_calls_ && bytes_ > 0; }

  // Called before a further read of a timed round.
  void Continue(int64_t now_ns) {
    if (empty_reads_ == 0 || was_empty_) return;
    is_long_ = is_long_ || now_ns - began_ns_ >= kNs;
    const bool was_cheap = now_ns - last_ns_ < kNs / 4;
    most_bytes_ = was_cheap ? std::min(kGrowth * most_bytes_, kMostCheapBytes) : kLittleBytes;
    read_bytes_ = 0;
  }

  bool MustPause() const {
    if (bytes_ >= kBytes || calls_ >= kCalls || is_long_) return true;
    return !counts_calls_ && empty_reads_ == 0 && read_bytes_ >= most_bytes_;
  }

  // Called after each read, with the calls that began in its bytes.
  void Took(size_t bytes, uint64_t calls, int64_t now_ns) {
    if (bytes_ == 0) began_ns_ = now_ns;
    last_ns_ = now_ns;
    bytes_ += bytes;
    if (!counts_calls_) read_bytes_ += bytes;
    calls_ += calls;
    empty_reads_ = 0;
  }

  // Called when a read finds nothing, because it must not or because nothing is there.
  void FoundNothing(bool was_empty) {
    was_empty_ = was_empty;
    if (was_empty && !counts_calls_) {
      read_bytes_ = 0;
      most_bytes_ = kLittleBytes;
    }
    if (++empty_reads_ == kLastReads) End();
  }

  // Called when a read has left nothing and gRPC knows.
  void End() {
    const bool was_busy = calls_ >= (most_bytes_ == kLittleBytes ? kFewCalls : kCalls);
    *this = ReadRound(counts_calls_);
    if (was_busy) most_bytes_ = kLittleBytes;
  }

 private:
  static constexpr uint32_t kLastReads = 2;

  bool counts_calls_;
  size_t most_bytes_;      // limit for gRPC before it must use the bytes
  size_t read_bytes_ = 0;  // bytes that gRPC has not used
  uint64_t bytes_ = 0;
  uint64_t calls_ = 0;
  int64_t began_ns_ = 0;
  int64_t last_ns_ = 0;       // time of the last read with bytes
  uint32_t empty_reads_ = 0;  // in a row
  bool was_empty_ = false;    // the last one, because nothing was there
  bool is_long_ = false;      // gRPC was busy with it for kNs
};

}  // namespace mpsd
