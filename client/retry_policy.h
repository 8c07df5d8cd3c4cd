// retry_policy: whether and when a failed call is repeated. Pure.
//
//   code                 a RetryInfo came along   repeated
//   UNAVAILABLE          no                       after a delay that doubles
//   UNAVAILABLE          yes                      after the server's delay
//   RESOURCE_EXHAUSTED   no                       never: too large, or full without a prospect
//   RESOURCE_EXHAUSTED   yes                      after the server's delay
//   any other            either                   never: it would fail again, or may have run
//
// Client and AsyncInfer carry the decision out. Nothing is repeated unless the program asks for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace mpsd::client {

// How often, and after which delays, a call is repeated. The deadline of the call bounds all
// attempts and waits together.
struct RetryOptions {
  uint32_t attempts = 1;  // in all; 1: the call is never repeated
  absl::Duration first_delay = absl::Milliseconds(50);
  absl::Duration longest_delay = absl::Seconds(2);
};

// A failed attempt, as far as it is known.
struct FailedAttempt {
  absl::StatusCode code = absl::StatusCode::kOk;
  std::optional<absl::Duration> server_delay;  // from a google.rpc.RetryInfo
  uint32_t attempt = 1;                        // counts from 1
  absl::Duration time_left = absl::InfiniteDuration();
};

// How long to wait before the next attempt; nothing when there must be none. UNAVAILABLE may be
// repeated; RESOURCE_EXHAUSTED only if the server says when. A delay from the server is waited in
// full. Without one the delay doubles with each attempt, and `dice`, from 0 to 1, takes away up to
// half of it. No attempt is made that would begin after the deadline.
std::optional<absl::Duration> RetryDelay(const RetryOptions& options, const FailedAttempt& failed,
                                         double dice);

// The delay of a google.rpc.RetryInfo in the details of a google.rpc.Status, which gRPC delivers as
// bytes. Nothing if there is no delay, if it is negative, or if the bytes are no such message. The
// bytes are the server's, and untrusted.
std::optional<absl::Duration> ServerDelay(const std::string& error_details);

}  // namespace mpsd::client
