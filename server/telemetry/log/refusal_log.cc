#include "server/telemetry/log/refusal_log.h"

#include "proto/base/check.h"

namespace mpsd {

void RefusalLog::Tell(Verdict verdict, std::string_view method, std::string_view peer) {
  MPSD_CHECK(verdict != Verdict::kAllowed);
  const bool unknown = verdict == Verdict::kUnauthenticated;
  (unknown ? metrics_->unauthenticated_calls : metrics_->denied_calls).fetch_add(1);
  {
    absl::MutexLock lock(&mu_);
    if (!lines_.Take(clock_->NowNs())) return;
  }
  logger_->Log(
      LogLevel::kWarn, "call_refused",
      {{"reason", unknown ? "unauthenticated" : "denied"}, {"method", method}, {"peer", peer}});
}

}  // namespace mpsd
