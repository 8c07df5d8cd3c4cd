// RetryPolicy: whether and when a call that failed is made again. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace mpsd::client {

// How often and how patiently a call is made again.
struct RetryOptions {
  uint32_t attempts = 1;  // in all; 1: nothing is made again
  absl::Duration first_delay = absl::Milliseconds(50);
  absl::Duration longest_delay = absl::Seconds(2);
};

// What a failed attempt says.
struct FailedAttempt {
  absl::StatusCode code = absl::StatusCode::kOk;
  std::optional<absl::Duration> server_delay;  // from a google.rpc.RetryInfo
  uint32_t attempt = 1;                        // the first is 1
  absl::Duration time_left = absl::InfiniteDuration();
};

// How long to wait before the next attempt; nothing where there is to be none. UNAVAILABLE is safe
// to try again; RESOURCE_EXHAUSTED only where the server says when. The server's delay is waited in
// full; without one the delay doubles from attempt to attempt, and `dice`, from 0 to 1, takes up to
// half of it away. Never where the deadline would pass first.
std::optional<absl::Duration> RetryDelay(const RetryOptions& options, const FailedAttempt& failed,
                                         double dice);

// The delay of a google.rpc.RetryInfo among the details of a google.rpc.Status, which is what gRPC
// hands on in binary; nothing where there is none.
std::optional<absl::Duration> ServerDelay(const std::string& error_details);

}  // namespace mpsd::client
