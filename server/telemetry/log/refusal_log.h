// RefusalLog: counts and logs the calls that the gate refused.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "proto/base/clock.h"
#include "proto/base/rate_limit.h"
#include "server/access/gate.h"
#include "server/telemetry/access_metrics.h"
#include "server/telemetry/log/log.h"

namespace mpsd {

// The counters count every refusal; the log gets a few lines a second. gRPC and the HTTP server
// have one each, so that a flood at one does not hide the refusals of the other. Owned by the
// daemon. Thread-safe.
class RefusalLog {
 public:
  // The referents outlive the refusal log.
  RefusalLog(AccessMetrics* metrics, Logger* logger, const Clock* clock)
      : metrics_(metrics),
        logger_(logger),
        clock_(clock),
        lines_(kLinesPerSecond, clock->NowNs()) {}

  // Records that `peer` was refused `method`. REQUIRES: verdict != Verdict::kAllowed.
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
