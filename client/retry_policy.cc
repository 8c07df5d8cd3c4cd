#include "client/retry_policy.h"

#include <algorithm>

#include "absl/strings/string_view.h"
#include "proto/encoding/protobuf_reader.h"

namespace mpsd::client {
namespace {

constexpr char kRetryInfoUrl[] = "type.googleapis.com/google.rpc.RetryInfo";
constexpr uint32_t kDetailsField = 3;  // google.rpc.Status: Any {type_url:1 value:2}
constexpr uint32_t kDelayField = 1;    // google.rpc.RetryInfo: Duration {seconds:1 nanos:2}

// The first field of that number; empty: none.
absl::string_view TextOf(absl::string_view message, uint32_t field) {
  ProtobufReader reader(message);
  while (reader.Next()) {
    if (reader.Is(field, WireType::kLengthDelimited)) return reader.text();
  }
  return "";
}

int64_t NumberOf(absl::string_view message, uint32_t field) {
  ProtobufReader reader(message);
  while (reader.Next()) {
    if (reader.Is(field, WireType::kVarint)) return static_cast<int64_t>(reader.number());
  }
  return 0;
}

}  // namespace

std::optional<absl::Duration> RetryDelay(const RetryOptions& options, const FailedAttempt& failed,
                                         double dice) {
  if (failed.attempt >= options.attempts) return std::nullopt;
  const bool safe =
      failed.code == absl::StatusCode::kUnavailable ||
      (failed.code == absl::StatusCode::kResourceExhausted && failed.server_delay.has_value());
  if (!safe) return std::nullopt;
  absl::Duration delay = options.first_delay;
  for (uint32_t i = 1; i < failed.attempt && delay < options.longest_delay; ++i) delay *= 2;
  delay = std::min(delay, options.longest_delay) * (1 - dice / 2);
  delay = failed.server_delay.value_or(delay);
  if (delay >= failed.time_left) return std::nullopt;
  return delay;
}

std::optional<absl::Duration> ServerDelay(const std::string& error_details) {
  ProtobufReader status(error_details);
  while (status.Next()) {
    if (!status.Is(kDetailsField, WireType::kLengthDelimited)) continue;
    if (TextOf(status.text(), 1) != kRetryInfoUrl) continue;
    const absl::string_view duration = TextOf(TextOf(status.text(), 2), kDelayField);
    const absl::Duration delay =
        absl::Seconds(NumberOf(duration, 1)) + absl::Nanoseconds(NumberOf(duration, 2));
    if (delay >= absl::ZeroDuration()) return delay;
  }
  return std::nullopt;
}

}  // namespace mpsd::client
