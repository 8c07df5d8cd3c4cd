// RefusalLog: counts and logs the calls that the gate refused.
//
// A refused client may try again without end, with a line for each try. So counters tell an
// operator how many there were (mpsd_unauthenticated_calls_total, mpsd_denied_calls_total), and a
// few lines tell the peer and the method, as the event "call_refused":
//
//   {"time":…,"level":"warn","event":"call_refused","reason":"denied",
//    "method":"/inference.GRPCInferenceService/RepositoryModelLoad","peer":"ipv4:10.0.0.7:52114"}
//
// The reason is "unauthenticated" for missing or wrong credentials, else "denied".
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "proto/base/clock.h"
#include "proto/base/rate_limit.h"
#include "server/access/gate.h"
#include "server/telemetry/log/log.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

// The counters count every refusal; the log gets kLinesPerSecond lines a second. That is far fewer
// than the log itself allows, so that refusals cannot crowd out other warnings. All callers share
// it.
//
// Stands beside the Gate: a caller with a verdict other than kAllowed calls Tell() once. Never
// decides, and never sees a credential. Owned by the daemon. Thread-safe; holds its mutex only to
// check the rate.
class RefusalLog {
 public:
  // The referents outlive the refusal log.
  RefusalLog(AccessMetrics* metrics, Logger* logger, const Clock* clock)
      : metrics_(metrics),
        logger_(logger),
        clock_(clock),
        lines_(kLinesPerSecond, clock->NowNs()) {}

  // Records that `peer`, an address, was refused `method`. Counts first, so that a refusal without
  // a line counts too. Does not wait. REQUIRES: verdict != Verdict::kAllowed.
  void Tell(Verdict verdict, std::string_view method, std::string_view peer)
      ABSL_LOCKS_EXCLUDED(mu_);

 private:
  static constexpr uint32_t kLinesPerSecond = 5;

  AccessMetrics* const metrics_;
  Logger* const logger_;
  const Clock* const clock_;

  absl::Mutex mu_;
  RateLimit lines_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd
