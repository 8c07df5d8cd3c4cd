// TraceLog: writes the spans of traced requests into a file, or has them sent to a collector.
//
//   request ├──────────────────────────────────────────┤   parent: the caller's span, if it has one
//     queue ├────────┤
//     dispatch        ├──┤
//     execute             ├───────────────────┤
//     respond                                  ├───────┤
//
// A request without a batch has no stages. A request of a model of steps has such a tree for each
// step below its span; a step is written before its whole. A request's spans are written together
// when it has ended. Until then only its place in its trace is kept (RequestSpan).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
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
#include "server/telemetry/log/span_sink.h"
#include "server/telemetry/model_metrics.h"
#include "server/telemetry/request_span.h"
#include "server/telemetry/stage_exemplars.h"

namespace mpsd {

enum class TraceFormat {
  kLines,  // a JSON object for each span
  kOtlp,   // a line of OTLP in JSON for each request or step
};

// A file, a sink, or both.
struct TraceTarget {
  std::unique_ptr<LogFile> file;
  TraceFormat format = TraceFormat::kLines;  // the file's
  SpanSink* sink = nullptr;                  // outlives the log
};

// The config gives the first settings. The TraceSetting method may replace them, for all models
// together or for one.
struct TraceSettings {
  bool on = true;
  uint32_t rate = 1000;  // one in this many, of requests whose callers do not decide
  int64_t count = -1;    // traces left; negative: no end

  bool operator==(const TraceSettings&) const = default;
};

// Exists only if the config names a trace file or a collector. The thread that ends a request puts
// its trace together, which allocates; an untraced request pays only for Wants().
//
// Lossy: requests whose spans the file or the collector does not take count in lost_traces. Owned
// by the daemon, outlives the HttpServer. Thread-safe.
class TraceLog {
 public:
  // Two daemons need different seeds, from which the ids follow. REQUIRES: settings.rate > 0, and a
  // file or a sink.
  TraceLog(TraceTarget target, const TraceSettings& settings, uint64_t seed, const Clock* clock,
           ServerMetrics* metrics);

  // `sampled` is the caller's decision (the flag of `traceparent`), which counts; without one every
  // `rate`th request is traced. A traced request takes one off `count`. A model with settings of
  // its own counts by those alone. Costs one load while nothing is traced, else a short mutex.
  bool Wants(absl::string_view model, std::optional<bool> sampled);

  // The span lies below the caller's. With empty ids it begins a new trace.
  RequestSpan Begin(absl::string_view trace_id, absl::string_view parent_id);

  // A step of the traced request `whole`. Ignores the settings.
  RequestSpan BeginStep(const RequestSpan& whole, std::string step);

  // The request's spans become one entry of a queue. Does not wait. REQUIRES: the request has a
  // span.
  void Write(const EndedRequest& request);

  const StageExemplars& exemplars() const { return exemplars_; }

  TraceFormat format() const { return format_; }
  const TraceSettings& configured() const { return configured_; }
  // The settings in force for the model, or, with an empty name, for all models without their own.
  TraceSettings settings(absl::string_view model) const ABSL_LOCKS_EXCLUDED(mu_);
  // Starts counting anew. A model whose settings equal those of all models no longer has its own.
  // REQUIRES: settings.rate > 0. The caller bounds the names to those of models.
  void Set(absl::string_view model, const TraceSettings& settings) ABSL_LOCKS_EXCLUDED(mu_);

  // See LogFile.
  absl::Status Reopen();

 private:
  struct Share {
    TraceSettings settings;
    uint64_t seen = 0;

    bool MayWant() const { return settings.on && settings.count != 0; }
  };

  uint64_t NextId();
  void KeepExemplars(const EndedRequest& request);
  bool AnyMayWant() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const TraceFormat format_;
  const TraceSettings configured_;
  const Clock* const clock_;
  const std::unique_ptr<LineQueue> lines_;  // null: no file
  SpanSink* const sink_;                    // null: no collector
  StageExemplars exemplars_;
  std::atomic<uint64_t> ids_;  // a counter; NextId() scatters it
  std::atomic<bool> on_;       // may be true a moment too long; the shares decide

  mutable absl::Mutex mu_;
  Share all_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, Share> of_model_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd
