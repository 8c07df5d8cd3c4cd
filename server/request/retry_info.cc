#include "server/request/retry_info.h"

#include <string>
#include <utility>

#include "absl/strings/cord.h"
#include "proto/base/clock.h"

namespace mpsd {
namespace {

// RetryInfo {Duration retry_delay = 1}, Duration {int64 seconds = 1; int32 nanos = 2}.
constexpr char kDelayKey = 1 << 3 | 2;
constexpr char kSecondsKey = 1 << 3;
constexpr char kNanosKey = 2 << 3;

constexpr int64_t kBusyNs = 100 * kNsPerMs;

void PutVarint(uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
  out->push_back(static_cast<char>(value));
}

uint64_t TakeVarint(absl::string_view* text) {
  uint64_t value = 0;
  for (uint32_t shift = 0; shift < 64 && !text->empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(text->front());
    text->remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) break;
  }
  return value;
}

}  // namespace

absl::Status WithRetryAfter(absl::Status status, int64_t delay_ns) {
  std::string duration(1, kSecondsKey);
  PutVarint(static_cast<uint64_t>(delay_ns / kNsPerSecond), &duration);
  duration.push_back(kNanosKey);
  PutVarint(static_cast<uint64_t>(delay_ns % kNsPerSecond), &duration);
  std::string info(1, kDelayKey);
  PutVarint(duration.size(), &info);
  info += duration;
  status.SetPayload(kRetryInfoType, absl::Cord(info));
  return status;
}

absl::Status Busy(absl::string_view text) {
  return WithRetryAfter(absl::ResourceExhaustedError(text), kBusyNs);
}

std::optional<int64_t> RetryAfterNs(const absl::Status& status) {
  const auto payload = status.GetPayload(kRetryInfoType);
  if (!payload.has_value()) return std::nullopt;
  const std::string whole(*payload);
  absl::string_view text = whole;
  if (text.size() < 2 || text[0] != kDelayKey) return std::nullopt;
  text.remove_prefix(1);
  if (TakeVarint(&text) != text.size()) return std::nullopt;
  int64_t delay_ns = 0;
  while (!text.empty()) {
    const char key = text.front();
    text.remove_prefix(1);
    const auto value = static_cast<int64_t>(TakeVarint(&text));
    delay_ns += key == kSecondsKey ? value * kNsPerSecond : value;
  }
  return delay_ns;
}

}  // namespace mpsd
