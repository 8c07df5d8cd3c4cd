#include "client/retry_policy.h"

#include <google/protobuf/unknown_field_set.h>

#include <algorithm>

namespace mpsd::client {
namespace {

using google::protobuf::UnknownField;
using google::protobuf::UnknownFieldSet;

constexpr char kRetryInfoUrl[] = "type.googleapis.com/google.rpc.RetryInfo";
constexpr int kDetailsField = 3;  // of google.rpc.Status: Any {type_url:1 value:2}
constexpr int kDelayField = 1;    // of google.rpc.RetryInfo: Duration {seconds:1 nanos:2}

// The bytes of the first field of that number; empty when there is none.
std::string Bytes(const UnknownFieldSet& message, int number) {
  for (int i = 0; i < message.field_count(); ++i) {
    const UnknownField& field = message.field(i);
    if (field.number() == number && field.type() == UnknownField::TYPE_LENGTH_DELIMITED) {
      return field.length_delimited();
    }
  }
  return "";
}

int64_t Number(const UnknownFieldSet& message, int number) {
  for (int i = 0; i < message.field_count(); ++i) {
    const UnknownField& field = message.field(i);
    if (field.number() == number && field.type() == UnknownField::TYPE_VARINT) {
      return static_cast<int64_t>(field.varint());
    }
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
  UnknownFieldSet status;
  if (!status.ParseFromString(error_details)) return std::nullopt;
  for (int i = 0; i < status.field_count(); ++i) {
    const UnknownField& field = status.field(i);
    if (field.number() != kDetailsField || field.type() != UnknownField::TYPE_LENGTH_DELIMITED) {
      continue;
    }
    UnknownFieldSet any, info, duration;
    if (!any.ParseFromString(field.length_delimited()) || Bytes(any, 1) != kRetryInfoUrl) continue;
    if (!info.ParseFromString(Bytes(any, 2))) continue;
    if (!duration.ParseFromString(Bytes(info, kDelayField))) continue;
    const absl::Duration delay =
        absl::Seconds(Number(duration, 1)) + absl::Nanoseconds(Number(duration, 2));
    if (delay >= absl::ZeroDuration()) return delay;
  }
  return std::nullopt;
}

}  // namespace mpsd::client
