// SpanExporter: takes spans to a collector. No request waits for the collector.
//
//   Send() ─▶ queue of requests ─▶ the thread ─▶ Collector
//                  │ full: the oldest is dropped     │ refused, or not taken in several tries
//                  └────────────▶ lost_traces ◀──────┘
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "proto/base/clock.h"
#include "server/telemetry/collector/collector.h"
#include "server/telemetry/collector/collector_log.h"
#include "server/telemetry/log/otlp_message.h"
#include "server/telemetry/log/span_sink.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

struct SpanExporterOptions {
  OtlpAttributes resource;
  size_t queued_traces = 2048;       // requests whose spans may wait
  size_t message_traces = 512;       // requests in a message
  int64_t gather_ns = kNsPerSecond;  // a message waits so long for further requests
  int64_t timeout_ns = 10 * kNsPerSecond;
  int tries = 4;                          // for each message
  int64_t first_retry_ns = kNsPerSecond;  // doubles each time
  int64_t last_call_ns = kNsPerSecond;    // at the daemon's end
};

// Owned by the daemon. Lossy: a request that the collector does not take counts in lost_traces.
// Thread-safe.
class SpanExporter final : public SpanSink {
 public:
  // Starts the thread "mpsd-spans".
  SpanExporter(Collector* collector, SpanExporterOptions options, Logger* logger,
               ServerMetrics* metrics);

  // Sends what waits in one message. A collector that does not answer costs about two seconds.
  ~SpanExporter() override;

  // Waits only for others of this queue.
  void Send(std::string spans) override ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void Run();
  // None at the end.
  std::vector<std::string> NextBatch() ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status Deliver(const std::string& message);
  // Returns once the time is over, or at the end.
  void Pause(int64_t ns) ABSL_LOCKS_EXCLUDED(mu_);
  void CountLost(size_t requests);

  Collector* const collector_;
  const SpanExporterOptions options_;
  CollectorLog log_;  // owned by the thread
  ServerMetrics* const metrics_;
  std::atomic<bool> ends_{false};  // written under mu_; a call in progress reads it without

  absl::Mutex mu_;
  std::deque<std::string> queue_ ABSL_GUARDED_BY(mu_);

  std::thread thread_;
};

}  // namespace mpsd
