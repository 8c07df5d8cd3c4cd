// RefusalLog: counts and logs the calls that the gate refused.
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

// A refused client may try again without end. So counters count every refusal, and the log gets
// kLinesPerSecond lines a second, which cannot crowd out other warnings. Never sees a credential.
// Owned by the daemon. Thread-safe.
class RefusalLog {
 public:
  RefusalLog(AccessMetrics* metrics, Logger* logger, const Clock* clock)
      : metrics_(metrics),
        logger_(logger),
        clock_(clock),
        lines_(kLinesPerSecond, clock->NowNs()) {}

  // `peer` is an address. Does not wait. REQUIRES: verdict != Verdict::kAllowed.
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
