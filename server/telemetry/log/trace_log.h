// TraceLog: writes the spans of traced requests into a file, or has them sent to a collector.
//
// A span has a name, a beginning, an end and a parent span. A traced request has one span, and
// below it one for each stage if a batch answered it:
//
//   request ├──────────────────────────────────────────┤   parent: the caller's span, if it has one
//     queue ├────────┤
//     dispatch        ├──┤
//     execute             ├───────────────────┤
//     respond                                  ├───────┤
//
// A request of a model of steps runs in other models' batches. It has its span, no stages, and
// below it such a tree for each step. A step ends, and is written, before its whole.
//
// A request's spans are written together when it has ended. Until then only its place in its trace
// is kept (RequestSpan).
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
  kOtlp,   // a line of OTLP in JSON for each request or step, for OpenTelemetry's collectors
};

// Where traces go: to one of the two, or to both.
struct TraceTarget {
  std::unique_ptr<LogFile> file;
  TraceFormat format = TraceFormat::kLines;  // the file's
  SpanSink* sink = nullptr;                  // outlives the log
};

// Which requests are traced. The config gives the first settings. The TraceSetting method may
// replace them at run time, for all models together or for one.
struct TraceSettings {
  bool on = true;
  uint32_t rate = 1000;  // one in this many, of requests whose callers do not decide
  int64_t count = -1;    // no traces after this many; negative: no end

  bool operator==(const TraceSettings&) const = default;
};

// Exists only if the config names a trace file or a collector. An exchange asks Wants() when a
// request begins and, after yes, calls Begin(). TellEnding() calls Write() when the request ends,
// before the client gets the answer. The thread that ends the request puts the trace together,
// which allocates; an untraced request pays only for the question.
//
// Lossy: requests whose spans the file or the collector does not take count in lost_traces. Owned
// by the daemon, outlives the HttpServer. Thread-safe.
class TraceLog {
 public:
  // The ids follow from `seed`: two daemons need different seeds. REQUIRES: settings.rate > 0, and
  // a file or a sink.
  TraceLog(TraceTarget target, const TraceSettings& settings, uint64_t seed, const Clock* clock,
           ServerMetrics* metrics);

  // Whether to trace the next request to the model. `sampled` is its caller's decision (the flag of
  // `traceparent`), which counts; without one every `rate`th request is traced. A traced request
  // takes one off `count`. A model with settings of its own counts by those alone. Costs one load
  // while nothing is traced, else a short mutex.
  bool Wants(absl::string_view model, std::optional<bool> sampled);

  // A client's request: below its caller's span, or with empty ids in a new trace.
  RequestSpan Begin(absl::string_view trace_id, absl::string_view parent_id);

  // A step of the traced request `whole`. Ignores the settings.
  RequestSpan BeginStep(const RequestSpan& whole, std::string step);

  // Writes a request's spans as one entry of a queue, with new ids for its stages. Does not wait.
  // REQUIRES: the request has a span.
  void Write(const EndedRequest& request);

  // The last traced requests that ran, for the metrics page.
  const StageExemplars& exemplars() const { return exemplars_; }

  TraceFormat format() const { return format_; }
  // The config's settings.
  const TraceSettings& configured() const { return configured_; }
  // The model's settings in force, or with an empty name those of all models without their own;
  // `count` is the number left.
  TraceSettings settings(absl::string_view model) const ABSL_LOCKS_EXCLUDED(mu_);
  // Starts counting anew. A model whose settings equal those of all models no longer has its own.
  // REQUIRES: settings.rate > 0. The caller bounds the names to those of models.
  void Set(absl::string_view model, const TraceSettings& settings) ABSL_LOCKS_EXCLUDED(mu_);

  // Opens the file's path again, if there is a file; see LogFile.
  absl::Status Reopen();

 private:
  // Settings in force, with the requests counted by them.
  struct Share {
    TraceSettings settings;
    uint64_t seen = 0;

    bool MayWant() const { return settings.on && settings.count != 0; }
  };

  uint64_t NextId();
  void KeepExemplars(const EndedRequest& request);
  // Whether any request may be traced.
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
