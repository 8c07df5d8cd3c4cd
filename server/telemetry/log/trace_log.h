// TraceLog: writes the spans of traced requests into a file.
//
// A span is a name, a beginning and an end, and the span that it is part of. A traced request has
// one span, and below it one for each stage, if a batch answered it:
//
//   request ├──────────────────────────────────────────┤   parent: the caller's span, if it has one
//     queue ├────────┤
//     dispatch        ├──┤
//     execute             ├───────────────────┤
//     respond                                  ├───────┤
//
// A request of a model of steps runs in other models' batches. It has its span, no stages, and
// below it a tree like this for each step, whose parent is the span of the whole. A step ends, and
// is written, before its whole.
//
// The spans of a request are written when it has ended, all at once: of a request that is under way
// only the place in its trace is kept (RequestSpan).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "proto/base/clock.h"
#include "server/telemetry/log/ended_request.h"
#include "server/telemetry/log/line_queue.h"
#include "server/telemetry/log/log_file.h"
#include "server/telemetry/model_metrics.h"
#include "server/telemetry/request_span.h"

namespace mpsd {

enum class TraceFormat {
  kLines,  // a JSON object for each span
  kOtlp,   // a line of OTLP in JSON for each request or step, as OpenTelemetry's collectors read it
};

// Which requests are traced. The config gives the first; the TraceSetting method may replace them
// while the daemon runs, those of all models together or of one model.
struct TraceSettings {
  bool on = true;
  uint32_t rate = 1000;  // one in this many; also those that their callers trace
  int64_t count = -1;    // after this many none; negative: no end

  bool operator==(const TraceSettings&) const = default;
};

// Exists only if the config names a file for traces. An exchange asks Wants() when a request begins
// and, if the answer was yes, calls Begin(). TellEnding() calls Write() when the request ends,
// before gRPC gets the answer. A trace is put together on the thread that ends the request, and
// allocates; a request that is not traced pays for the question only. Nothing goes over the
// network: collectors read the file.
//
// Lossy: requests whose spans the file does not take in time are counted in lost_traces. Owned by
// the daemon, outlives the gRPC server. Thread-safe.
class TraceLog {
 public:
  // The ids follow from `seed`: two daemons need different seeds. REQUIRES: settings.rate > 0.
  TraceLog(std::unique_ptr<LogFile> file, TraceFormat format, const TraceSettings& settings,
           uint64_t seed, const Clock* clock, ServerMetrics* metrics);

  // Whether to trace the next request to the model, of which `sampled` says that its caller traces
  // it (the flag of `traceparent`). Counts the request: every `rate`th is traced, and takes one off
  // `count`; of a model with settings of its own, by those alone. Costs one load while nothing is
  // traced, otherwise a short mutex.
  bool Wants(absl::string_view model, bool sampled);

  // The place of a client's request: below the span of its caller, or, with empty ids, in a new
  // trace.
  RequestSpan Begin(absl::string_view trace_id, absl::string_view parent_id);

  // The place of a step of the request `whole`, which is traced. Asks no settings.
  RequestSpan BeginStep(const RequestSpan& whole, std::string step);

  // Writes the spans of a request as one entry of the queue; the ids of its stages are made here.
  // Does not wait. REQUIRES: the request has a span.
  void Write(const EndedRequest& request);

  TraceFormat format() const { return format_; }
  // The settings of the config.
  const TraceSettings& configured() const { return configured_; }
  // The settings in force for the model, or, with an empty name, for all models that have none of
  // their own; `count` is how many are left.
  TraceSettings settings(absl::string_view model) const ABSL_LOCKS_EXCLUDED(mu_);
  // Begins to count anew. Settings of a model that are those of all models are no longer its own.
  // REQUIRES: settings.rate > 0. The caller bounds the names: they are those of models.
  void Set(absl::string_view model, const TraceSettings& settings) ABSL_LOCKS_EXCLUDED(mu_);

  absl::Status Reopen() { return lines_.Reopen(); }

 private:
  // Settings in force, and the requests that were counted by them.
  struct Share {
    TraceSettings settings;
    uint64_t seen = 0;

    bool MayWant() const { return settings.on && settings.count != 0; }
  };

  uint64_t NextId();
  // Whether some request may be traced.
  bool AnyMayWant() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const TraceFormat format_;
  const TraceSettings configured_;
  const Clock* const clock_;
  LineQueue lines_;
  std::atomic<uint64_t> ids_;  // a counter; NextId() scatters it
  std::atomic<bool> on_;       // may be true a moment too long; the shares decide

  mutable absl::Mutex mu_;
  Share all_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, Share> of_model_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd
