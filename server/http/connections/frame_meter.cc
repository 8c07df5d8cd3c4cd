#include "server/http/connections/frame_meter.h"

#include <algorithm>

#include "absl/strings/string_view.h"

namespace mpsd {
namespace {

constexpr absl::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

// A new connection has the budget of this time.
constexpr int64_t kFirstNs = kNsPerSecond / 4;

constexpr uint8_t kData = 0;
constexpr uint8_t kHeaders = 1;
constexpr uint8_t kRstStream = 3;
constexpr uint8_t kWindowUpdate = 8;
constexpr uint8_t kContinuation = 9;
constexpr uint8_t kEndStream = 1;
constexpr uint8_t kEndHeaders = 4;

// The first bit has no meaning.
uint32_t StreamOf(const uint8_t* head) {
  return (uint32_t{head[5]} << 24 | uint32_t{head[6]} << 16 | uint32_t{head[7]} << 8 | head[8]) &
         0x7fffffff;
}

}  // namespace

const char* NameOf(Flood flood) {
  switch (flood) {
    case Flood::kNone:
      return "none";
    case Flood::kResets:
      return "resets";
    case Flood::kControlFrames:
      return "control frames";
    case Flood::kWindowUpdates:
      return "window updates";
    case Flood::kHeaderBlock:
      return "a long header block";
  }
  return "";
}

FrameMeter::FrameMeter(const FrameBounds& bounds, int64_t now_ns)
    : header_block_bytes_(bounds.header_block_bytes),
      resets_(bounds.resets, now_ns, kFirstNs),
      late_resets_(kLateResets * bounds.resets, now_ns),
      control_frames_(kControlFramesPerSecond, now_ns, kFirstNs),
      window_updates_(kWindowUpdatesPerSecond, now_ns, kFirstNs),
      preface_left_(kPreface.size()) {}

Flood FrameMeter::Take(absl::Span<const uint8_t> bytes, int64_t now_ns) {
  NoteTime(now_ns);
  while (!bytes.empty() && flood_ == Flood::kNone) {
    size_t used = 0;
    if (preface_left_ > 0) {
      used = std::min(preface_left_, bytes.size());
      preface_left_ -= used;
    } else if (payload_left_ > 0) {
      used = std::min<size_t>(payload_left_, bytes.size());
      payload_left_ -= static_cast<uint32_t>(used);
    } else {
      used = TakeHead(bytes, now_ns);
    }
    bytes.remove_prefix(used);
  }
  return flood_;
}

Flood FrameMeter::CountOwnReset(int64_t now_ns) {
  Spend(&resets_, Flood::kResets, now_ns);
  return flood_;
}

void FrameMeter::NoteTime(int64_t now_ns) {
  if (now_ns - mark_.at_ns >= kLongOpenNs) {
    const bool was_quiet = now_ns - last_ns_ >= kLongOpenNs;
    last_long_open_ = was_quiet ? newest_stream_ : mark_.stream;
    mark_ = {now_ns, newest_stream_};
  }
  last_ns_ = now_ns;
}

size_t FrameMeter::TakeHead(absl::Span<const uint8_t> bytes, int64_t now_ns) {
  if (head_count_ == 0 && bytes.size() >= kHeadBytes) {
    Count(bytes.data(), now_ns);
    return kHeadBytes;
  }
  const size_t count = std::min(bytes.size(), kHeadBytes - head_count_);
  std::copy_n(bytes.data(), count, head_.data() + head_count_);
  head_count_ = static_cast<uint8_t>(head_count_ + count);
  if (head_count_ < kHeadBytes) return count;
  head_count_ = 0;
  Count(head_.data(), now_ns);
  return count;
}

// A head: length (3 bytes), kind, flags, stream (4 bytes).
void FrameMeter::Count(const uint8_t* head, int64_t now_ns) {
  payload_left_ = uint32_t{head[0]} << 16 | uint32_t{head[1]} << 8 | head[2];
  const uint8_t kind = head[3];
  const uint8_t flags = head[4];
  const bool is_header = kind == kHeaders || kind == kContinuation;
  data_stream_ = kind == kData ? StreamOf(head) : 0;
  if (kind == kHeaders) newest_stream_ = std::max(newest_stream_, StreamOf(head));
  if (is_header) CountHeaders(payload_left_, (flags & kEndHeaders) != 0);
  if (kind == kRstStream) {
    const bool is_late = StreamOf(head) <= last_long_open_;
    return Spend(is_late ? &late_resets_ : &resets_, Flood::kResets, now_ns);
  }
  if (kind == kWindowUpdate) return Spend(&window_updates_, Flood::kWindowUpdates, now_ns);
  const bool ends_stream = kind != kContinuation && (flags & kEndStream) != 0;
  if ((is_header || kind == kData) && (payload_left_ > 0 || ends_stream)) return;
  Spend(&control_frames_, Flood::kControlFrames, now_ns);
}

void FrameMeter::CountHeaders(uint32_t length, bool ends) {
  block_bytes_ += length;
  if (block_bytes_ > header_block_bytes_) flood_ = Flood::kHeaderBlock;
  if (ends) block_bytes_ = 0;
}

void FrameMeter::Spend(RateLimit* budget, Flood kind, int64_t now_ns) {
  if (!budget->Take(now_ns)) flood_ = kind;
}

}  // namespace mpsd
