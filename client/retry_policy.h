// retry_policy: whether and when a failed call is repeated, if the program asks for it. Pure.
//
//   code                 a RetryInfo came along   repeated
//   UNAVAILABLE          no                       after a delay that doubles
//   UNAVAILABLE          yes                      after the server's delay
//   RESOURCE_EXHAUSTED   no                       never: too large, or full without a prospect
//   RESOURCE_EXHAUSTED   yes                      after the server's delay
//   any other            either                   never: it would fail again, or may have run
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace mpsd::client {

// The call's deadline bounds all attempts and waits together.
struct RetryOptions {
  uint32_t attempts = 1;  // in all; 1: never repeated
  absl::Duration first_delay = absl::Milliseconds(50);
  absl::Duration longest_delay = absl::Seconds(2);
};

// As far as it is known.
struct FailedAttempt {
  absl::StatusCode code = absl::StatusCode::kOk;
  std::optional<absl::Duration> server_delay;  // from a google.rpc.RetryInfo
  uint32_t attempt = 1;                        // counts from 1
  absl::Duration time_left = absl::InfiniteDuration();
};

// Nothing if there is no further attempt: none may begin after the deadline. A delay of our own
// doubles with each attempt, and `dice`, from 0 to 1, takes away up to half of it.
std::optional<absl::Duration> RetryDelay(const RetryOptions& options, const FailedAttempt& failed,
                                         double dice);

// A RetryInfo's delay in a serialized google.rpc.Status. Nothing if there is none, or it is
// negative or malformed: the bytes are untrusted.
std::optional<absl::Duration> ServerDelay(const std::string& error_details);

}  // namespace mpsd::client
