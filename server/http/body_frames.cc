#include "server/http/body_frames.h"

namespace mpsd {
namespace {

constexpr uint8_t kData = 0;
constexpr uint8_t kEndStream = 1;

// The number in the head's bytes from `at` on.
uint32_t NumberIn(absl::string_view head, size_t at, size_t bytes) {
  uint32_t number = 0;
  for (const char byte : head.substr(at, bytes)) number = number << 8 | static_cast<uint8_t>(byte);
  return number;
}

}  // namespace

BodyFrames::BodyFrames(uint32_t stream, size_t bytes, absl::Span<char> place, std::string* buffer)
    : stream_(stream) {
  const auto add = [this](char* data, size_t size) {
    targets_[targets_count_++] = boost::asio::buffer(data, size);
  };
  add(place.data(), bytes);
  place.remove_prefix(bytes);
  for (size_t i = 0; i < kMostFrames && !place.empty(); ++i) {
    const size_t size = std::min(place.size(), kFrameBytes);
    add(heads_[i].data(), kHeadBytes);
    add(place.data(), size);
    place.remove_prefix(size);
  }
  add(buffer->data(), buffer->size());
}

bool BodyFrames::IsExpected(size_t target) const {
  const absl::string_view head = Text(target, kHeadBytes);
  const auto kind = static_cast<uint8_t>(head[3]);
  const auto flags = static_cast<uint8_t>(head[4]);
  return NumberIn(head, 0, 3) == targets_[target + 1].size() && kind == kData &&
         (flags & ~kEndStream) == 0 && NumberIn(head, 5, 4) == stream_;
}

absl::string_view BodyFrames::Gathered(size_t target, size_t count) {
  gathered_.reserve(count);
  for (; count > 0; ++target) {
    const absl::string_view text = Text(target, std::min(count, targets_[target].size()));
    gathered_.append(text.data(), text.size());
    count -= text.size();
  }
  return gathered_;
}

}  // namespace mpsd
