// MetricsExporter: takes the figures of /metrics to a collector.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "absl/status/status.h"
#include "absl/synchronization/notification.h"
#include "proto/base/clock.h"
#include "server/telemetry/collector/collector.h"
#include "server/telemetry/collector/collector_log.h"
#include "server/telemetry/log/otlp_message.h"
#include "server/telemetry/metrics_page.h"

namespace mpsd {

struct MetricsExporterOptions {
  OtlpAttributes resource;
  int64_t interval_ns = 0;  // between two messages
  int64_t timeout_ns = 10 * kNsPerSecond;
  int64_t last_call_ns = kNsPerSecond;  // at the daemon's end
};

// A message that the collector does not take is not sent again: the next one has newer sums. Owned
// by the daemon. Thread-compatible.
class MetricsExporter {
 public:
  // Starts the thread "mpsd-metrics". The page takes no further limit or source.
  MetricsExporter(const MetricsPage* page, Collector* collector, MetricsExporterOptions options,
                  Logger* logger);

  // Sends the last figures. A collector that does not answer costs about two seconds.
  ~MetricsExporter();

 private:
  void Run();
  absl::Status Send(int64_t timeout_ns, const std::atomic<bool>& cut);

  const MetricsPage* const page_;
  Collector* const collector_;
  const MetricsExporterOptions options_;
  CollectorLog log_;  // owned by the thread
  absl::Notification end_;
  std::atomic<bool> ends_{false};  // for a call in progress
  std::thread thread_;
};

}  // namespace mpsd
