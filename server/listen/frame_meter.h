// FrameMeter: counts the HTTP/2 frames of one connection that cost the server more than the client.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
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

// Walks the frame heads of a connection as its bytes arrive, and skips the rest. Each kind of frame
// has a budget that comes back with time and holds one second's worth. The budgets are far above
// the need of a client that uses the server, also of one whose calls all pass their deadline. gRPC
// 1.51 itself has no such bound. A connection that does not begin with HTTP/2's preface, for
// example one with TLS, is not looked into.
//
// Owned by the connection's place in the ConnectionTable. Pure. Thread-compatible.
class FrameMeter {
 public:
  static constexpr uint32_t kResetsPerSecond = 4'000;
  static constexpr uint32_t kControlFramesPerSecond = 2'000;
  static constexpr uint32_t kWindowUpdatesPerSecond = 100'000;

  // `header_block_bytes` bounds one header block, as it is sent.
  FrameMeter(uint64_t header_block_bytes, int64_t now_ns);

  // Takes the next bytes of the connection, at a time that never decreases from call to call. Once
  // it has returned a flood it returns the same again.
  Flood Take(absl::Span<const uint8_t> bytes, int64_t now_ns);

 private:
  static constexpr size_t kHeadBytes = 9;

  // Return how many of the bytes they used.
  size_t TakePreface(absl::Span<const uint8_t> bytes);
  size_t TakeHead(absl::Span<const uint8_t> bytes, int64_t now_ns);

  void Count(const uint8_t* head, int64_t now_ns);
  void CountHeaders(uint32_t length, bool ends);
  void Spend(RateLimit* budget, Flood kind, int64_t now_ns);

  const uint64_t header_block_bytes_;
  RateLimit resets_;
  RateLimit control_frames_;
  RateLimit window_updates_;
  uint64_t block_bytes_ = 0;                // of the header block that has not ended
  uint32_t payload_left_ = 0;               // of the frame whose head has come
  std::array<uint8_t, kHeadBytes> head_{};  // of a frame whose head came in pieces
  uint8_t head_count_ = 0;                  // bytes in `head_`
  uint8_t preface_count_ = 0;               // bytes of the preface that have come
  bool is_opaque_ = false;                  // there was no preface
  Flood flood_ = Flood::kNone;
};

}  // namespace mpsd
