// FrameMeter: counts the HTTP/2 frames of one connection that cost the server more than the client.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "proto/base/clock.h"
#include "proto/base/rate_limit.h"

namespace mpsd {

// Of which frames a client has sent too many.
enum class Flood : uint8_t {
  kNone,
  kResets,         // RST_STREAM: calls that were cancelled
  kControlFrames,  // SETTINGS, PING, PRIORITY, GOAWAY, frames of no known kind or without content
  kWindowUpdates,
  kHeaderBlock,  // one block of HEADERS and CONTINUATION frames was too long
};

// "resets"; for the log.
const char* NameOf(Flood flood);

// What a client may send. A value.
struct FrameBounds {
  uint64_t header_block_bytes = 0;  // in one header block, as it is sent
  uint32_t resets = 10'000;         // RST_STREAM frames in a second, for calls that just began
};

// Walks the frame heads of a connection as its bytes arrive, and skips the rest. Each kind of frame
// has a budget that comes back with time and holds one second's worth. A new connection has a
// quarter of that, since a client that is cut can come again. gRPC 1.51 itself has no such bounds.
//
// A client whose call ends at its deadline cancels it, and in overload those may be most of its
// calls. They have been open for a while, and only so many are open at once, so that they are not
// what a flood is made of: they have a budget of their own, twice as large, the whole of which a
// new connection has too.
//
// A connection that does not begin with HTTP/2's preface, for example one with TLS, is not looked
// into. Its cancelled calls are counted as they end, by the same budgets.
//
// Owned by the connection's place in the ConnectionTable. Reads no clock. Thread-compatible.
class FrameMeter {
 public:
  // Far more than gRPC's clients send. They update a window twice for each answer: one connection
  // with 60,000 small calls a second, as a Unix socket has them, sends 120,000 updates.
  static constexpr uint32_t kControlFramesPerSecond = 2'000;
  static constexpr uint32_t kWindowUpdatesPerSecond = 1'000'000;
  // A call has been open for a while: its reset is a late one.
  static constexpr int64_t kLongOpenNs = 2 * kNsPerMs;
  static constexpr uint32_t kLateResets = 2;  // in a second, for each of FrameBounds::resets

  FrameMeter(const FrameBounds& bounds, int64_t now_ns);

  // Takes the next bytes of the connection, which were read at `now_ns`. Once it has returned a
  // flood it returns the same again.
  Flood Take(absl::Span<const uint8_t> bytes, int64_t now_ns);

  // A call was cancelled whose frames could not be seen. As Take(). Does nothing where they can.
  Flood CountReset(bool is_late, int64_t now_ns);

  // How many calls have begun in all bytes.
  uint64_t calls() const { return calls_; }

  // True when the bytes are known to be frames: the preface has come.
  bool sees_frames() const;

 private:
  static constexpr size_t kHeadBytes = 9;

  // The newest stream at a moment.
  struct Mark {
    int64_t at_ns = 0;
    uint32_t stream = 0;
  };

  // Finds out which streams have been open for a while.
  void NoteTime(int64_t now_ns);

  // Return how many of the bytes they used.
  size_t TakePreface(absl::Span<const uint8_t> bytes);
  size_t TakeHead(absl::Span<const uint8_t> bytes, int64_t now_ns);

  void Count(const uint8_t* head, int64_t now_ns);
  void CountHeaders(uint32_t length, bool ends);
  void Spend(RateLimit* budget, Flood kind, int64_t now_ns);

  const uint64_t header_block_bytes_;
  RateLimit resets_;
  RateLimit late_resets_;
  RateLimit control_frames_;
  RateLimit window_updates_;
  uint64_t calls_ = 0;
  uint32_t newest_stream_ = 0;
  uint32_t last_long_open_ = 0;             // the newest stream that has been open for kLongOpenNs
  Mark mark_;                               // the next one, when that time has passed
  int64_t last_ns_ = 0;                     // of the bytes that came last
  uint64_t block_bytes_ = 0;                // of the header block that has not ended
  uint32_t payload_left_ = 0;               // of the frame whose head has come
  std::array<uint8_t, kHeadBytes> head_{};  // of a frame whose head came in pieces
  uint8_t head_count_ = 0;                  // bytes in `head_`
  uint8_t preface_count_ = 0;               // bytes of the preface that have come
  bool is_opaque_ = false;                  // there was no preface
  Flood flood_ = Flood::kNone;
};

}  // namespace mpsd
