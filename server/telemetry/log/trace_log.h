// TraceLog: writes the spans of traced requests into a file.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "proto/base/clock.h"
#include "server/telemetry/log/ended_request.h"
#include "server/telemetry/log/line_queue.h"
#include "server/telemetry/log/log_file.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

enum class TraceFormat {
  kLines,  // a JSON object for each span
  kOtlp,   // a line of OTLP in JSON for each request, as OpenTelemetry's collectors read it
};

// Which requests are traced.
struct TraceSettings {
  bool on = true;
  uint32_t rate = 1000;  // one in this many; also those that their callers trace
  int64_t count = -1;    // after this many none; negative: no end

  bool operator==(const TraceSettings&) const = default;
};

// A request has one span, and below it one span for each stage: queue, dispatch, execute, respond.
// Exists only if the config names a file for traces. Lossy: requests whose spans the file does not
// take in time are counted in lost_traces. Owned by the daemon, outlives the server. Thread-safe.
class TraceLog {
 public:
  // The ids follow from `seed`: two daemons need different seeds. REQUIRES: settings.rate > 0.
  TraceLog(std::unique_ptr<LogFile> file, TraceFormat format, const TraceSettings& settings,
           uint64_t seed, const Clock* clock, ServerMetrics* metrics);

  // Whether to trace the next request, of which `sampled` says that its caller traces it. Counts
  // the request. Costs one load while nothing is traced.
  bool Wants(bool sampled);

  void Write(const EndedRequest& request);

  TraceFormat format() const { return format_; }
  // The settings of the config.
  const TraceSettings& configured() const { return configured_; }
  // The settings in force; `count` is how many are left.
  TraceSettings settings() const ABSL_LOCKS_EXCLUDED(mu_);
  // REQUIRES: settings.rate > 0.
  void Set(const TraceSettings& settings) ABSL_LOCKS_EXCLUDED(mu_);

  absl::Status Reopen() { return lines_.Reopen(); }

 private:
  uint64_t NextId();

  const TraceFormat format_;
  const TraceSettings configured_;
  const Clock* const clock_;
  LineQueue lines_;
  std::atomic<uint64_t> ids_;
  std::atomic<bool> on_;

  mutable absl::Mutex mu_;
  TraceSettings settings_ ABSL_GUARDED_BY(mu_);
  uint64_t seen_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace mpsd
