// FrameMeter: finds clients of HTTP/2 that flood a connection with costly frames.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "proto/base/clock.h"
#include "proto/base/rate_limit.h"

namespace mpsd {

enum class Flood : uint8_t {
  kNone,
  kResets,         // RST_STREAM
  kControlFrames,  // SETTINGS, PING, PRIORITY, GOAWAY, unknown or empty frames
  kWindowUpdates,
  kHeaderBlock,  // HEADERS and CONTINUATION frames
};

// "resets"; for the log.
const char* NameOf(Flood flood);

struct FrameBounds {
  uint64_t header_block_bytes = 0;  // as sent
  uint32_t resets = 10'000;         // a second, of calls that just began
};

// Each kind of frame has a budget of one second's worth, which refills with time. A new connection
// gets a quarter of it, since a client that is cut can come again. nghttp2 has no such bounds.
//
// In overload most calls may end by a cancel at their deadline. Such late resets have a budget of
// their own, twice as large, which a new connection gets in full.
//
// Owned by the connection. Reads no clock. Thread-compatible.
class FrameMeter {
 public:
  // gRPC's clients update a window twice for each answer: 120,000 times a second for 60,000 small
  // calls over a Unix socket.
  static constexpr uint32_t kControlFramesPerSecond = 2'000;
  static constexpr uint32_t kWindowUpdatesPerSecond = 1'000'000;
  // An older call's reset counts as late.
  static constexpr int64_t kLongOpenNs = 2 * kNsPerMs;
  static constexpr uint32_t kLateResets = 2;  // a second, for each of FrameBounds::resets

  FrameMeter(const FrameBounds& bounds, int64_t now_ns);

  // Takes the connection's next bytes. A flood is returned again from then on.
  Flood Take(absl::Span<const uint8_t> bytes, int64_t now_ns);

  // The rest of a DATA frame, with its padding.
  struct Data {
    uint32_t stream = 0;
    uint32_t bytes = 0;  // 0: no such frame has begun
  };
  Data data_to_come() const {
    return data_stream_ > 0 ? Data{data_stream_, payload_left_} : Data();
  }

  // Counts a call that the server reset because the client broke the rules.
  Flood CountOwnReset(int64_t now_ns);

 private:
  static constexpr size_t kHeadBytes = 9;

  struct Mark {
    int64_t at_ns = 0;
    uint32_t stream = 0;
  };

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
  uint32_t last_long_open_ = 0;  // newest that was open for kLongOpenNs
  Mark mark_;
  int64_t last_ns_ = 0;
  uint64_t block_bytes_ = 0;   // the unfinished block's
  uint32_t payload_left_ = 0;  // left of the current frame
  uint32_t data_stream_ = 0;   // its stream, if it is a DATA frame
  std::array<uint8_t, kHeadBytes> head_{};
  uint8_t head_count_ = 0;
  size_t preface_left_;
  Flood flood_ = Flood::kNone;
};

}  // namespace mpsd
