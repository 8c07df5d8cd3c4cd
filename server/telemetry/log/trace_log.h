// TraceLog: the spans of requests that are traced, in a file.
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
  kLines,  // a JSON object a span
  kOtlp,   // a line a request, as OpenTelemetry's collectors read files: OTLP in JSON
};

// Which requests are traced.
struct TraceSettings {
  bool on = true;
  uint32_t rate = 1000;  // one in so many; those that their callers trace besides
  int64_t count = -1;    // so many and then none; negative: no end

  bool operator==(const TraceSettings&) const = default;
};

// A request has a span of its own, and below it one for each stage that it went through: queue,
// dispatch, execute, respond. Lossy: those that the file does not take in time are counted in
// lost_traces. Thread-safe. Outlives the server.
class TraceLog {
 public:
  // `seed` makes the ids; two daemons have different ones.
  TraceLog(std::unique_ptr<LogFile> file, TraceFormat format, const TraceSettings& settings,
           uint64_t seed, const Clock* clock, ServerMetrics* metrics);

  // Whether the next request is to be traced; `sampled`: its caller wishes so. Costs one load while
  // nothing is traced.
  bool Wants(bool sampled);

  void Write(const EndedRequest& request);

  TraceFormat format() const { return format_; }
  // What the config said.
  const TraceSettings& configured() const { return configured_; }
  // What is in force; `count` is how many are left.
  TraceSettings settings() const ABSL_LOCKS_EXCLUDED(mu_);
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
