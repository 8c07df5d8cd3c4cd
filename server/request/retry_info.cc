#include "server/request/retry_info.h"

#include <string>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "proto/base/clock.h"
#include "proto/encoding/protobuf_reader.h"

namespace mpsd {
namespace {

// RetryInfo {Duration retry_delay = 1}, Duration {int64 seconds = 1; int32 nanos = 2}.
constexpr uint32_t kDelayField = 1;
constexpr uint32_t kSecondsField = 1;
constexpr uint32_t kNanosField = 2;

constexpr int64_t kBusyNs = 100 * kNsPerMs;

}  // namespace

absl::Status WithRetryAfter(absl::Status status, int64_t delay_ns) {
  std::string duration;
  PutNumber(kSecondsField, static_cast<uint64_t>(delay_ns / kNsPerSecond), &duration);
  PutNumber(kNanosField, static_cast<uint64_t>(delay_ns % kNsPerSecond), &duration);
  std::string info;
  PutText(kDelayField, duration, &info);
  status.SetPayload(kRetryInfoType, absl::Cord(info));
  return status;
}

absl::Status WithText(const absl::Status& status, absl::string_view text) {
  absl::Status other(status.code(), text);
  status.ForEachPayload([&other](absl::string_view type, const absl::Cord& payload) {
    other.SetPayload(type, payload);
  });
  return other;
}

absl::Status WithId(const absl::Status& status, absl::string_view id) {
  if (status.ok() || id.empty()) return status;
  return WithText(status, absl::StrCat("[request id: ", id, "] ", status.message()));
}

absl::Status Busy(absl::string_view text) {
  return WithRetryAfter(absl::ResourceExhaustedError(text), kBusyNs);
}

std::optional<int64_t> RetryAfterNs(const absl::Status& status) {
  const auto payload = status.GetPayload(kRetryInfoType);
  if (!payload.has_value()) return std::nullopt;
  const std::string bytes(*payload);
  ProtobufReader info(bytes);
  if (!info.Next() || !info.Is(kDelayField, WireType::kLengthDelimited)) return std::nullopt;
  ProtobufReader duration(info.text());
  int64_t delay_ns = 0;
  while (duration.Next()) {
    const auto value = static_cast<int64_t>(duration.number());
    delay_ns += duration.field() == kSecondsField ? value * kNsPerSecond : value;
  }
  if (duration.malformed()) return std::nullopt;
  return delay_ns;
}

}  // namespace mpsd
