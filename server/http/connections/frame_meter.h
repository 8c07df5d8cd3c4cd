// FrameMeter: counts a connection's HTTP/2 frames that cost the server more than the client.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "proto/base/clock.h"
#include "proto/base/rate_limit.h"

namespace mpsd {

// The kind of frame that a client has sent too often.
enum class Flood : uint8_t {
  kNone,
  kResets,         // RST_STREAM: calls that were cancelled
  kControlFrames,  // SETTINGS, PING, PRIORITY, GOAWAY, unknown or empty frames
  kWindowUpdates,
  kHeaderBlock,  // one block of HEADERS and CONTINUATION frames was too long
};

// "resets"; for the log.
const char* NameOf(Flood flood);

// A client's limits. A value.
struct FrameBounds {
  uint64_t header_block_bytes = 0;  // in one header block, as sent
  uint32_t resets = 10'000;         // RST_STREAM frames a second, for calls that just began
};

// Walks a connection's frame heads as its bytes arrive, and skips the rest. Each kind of frame has
// a budget that refills with time and holds one second's worth. A new connection gets a quarter of
// it, since a client that is cut can come again. nghttp2 itself has no such bounds.
//
// A client whose call ends at its deadline cancels it, and in overload most calls may end so. Such
// calls have been open for a while, and only a limited number is open at once, so they make no
// flood. They have a budget of their own, twice as large, which a new connection gets in full.
//
// Owned by the connection. Reads no clock. Thread-compatible.
class FrameMeter {
 public:
  // Far more than gRPC's clients send. They update a window twice for each answer: a Unix socket
  // with 60,000 small calls a second sends 120,000 updates.
  static constexpr uint32_t kControlFramesPerSecond = 2'000;
  static constexpr uint32_t kWindowUpdatesPerSecond = 1'000'000;
  // From this age of its call on, a reset counts as late.
  static constexpr int64_t kLongOpenNs = 2 * kNsPerMs;
  static constexpr uint32_t kLateResets = 2;  // a second, for each of FrameBounds::resets

  FrameMeter(const FrameBounds& bounds, int64_t now_ns);

  // Takes the connection's next bytes, read at `now_ns`. Once it has returned a flood it returns
  // the same again.
  Flood Take(absl::Span<const uint8_t> bytes, int64_t now_ns);

  // The rest of a DATA frame, its padding included.
  struct Data {
    uint32_t stream = 0;
    uint32_t bytes = 0;  // 0: no such frame has begun
  };
  Data data_to_come() const {
    return data_stream_ > 0 ? Data{data_stream_, payload_left_} : Data();
  }

  // The server has reset a call itself, because the client broke the rules of HTTP/2. As Take().
  Flood CountOwnReset(int64_t now_ns);

 private:
  static constexpr size_t kHeadBytes = 9;

  // The newest stream at a moment.
  struct Mark {
    int64_t at_ns = 0;
    uint32_t stream = 0;
  };

  // Finds out which streams have been open for a while.
  void NoteTime(int64_t now_ns);

  // Returns how many bytes it used.
  size_t TakeHead(absl::Span<const uint8_t> bytes, int64_t now_ns);

  void Count(const uint8_t* head, int64_t now_ns);
  void CountHeaders(uint32_t length, bool ends);
  void Spend(RateLimit* budget, Flood kind, int64_t now_ns);

  const uint64_t header_block_bytes_;
  RateLimit resets_;
  RateLimit late_resets_;
  RateLimit control_frames_;
  RateLimit window_updates_;
  uint32_t newest_stream_ = 0;
  uint32_t last_long_open_ = 0;             // newest stream that was open for kLongOpenNs
  Mark mark_;                               // the next such stream, once that time has passed
  int64_t last_ns_ = 0;                     // time of the last bytes
  uint64_t block_bytes_ = 0;                // bytes of the unfinished header block
  uint32_t payload_left_ = 0;               // left of the current frame
  uint32_t data_stream_ = 0;                // its stream, if it is a DATA frame
  std::array<uint8_t, kHeadBytes> head_{};  // a frame's head that comes in pieces
  uint8_t head_count_ = 0;                  // bytes in `head_`
  size_t preface_left_;                     // bytes of the preface still to come
  Flood flood_ = Flood::kNone;
};

}  // namespace mpsd
