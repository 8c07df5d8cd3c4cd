// RequestLog: a line for each request that ends.
#pragma once

#include <memory>

#include "absl/status/status.h"
#include "server/telemetry/log/ended_request.h"
#include "server/telemetry/log/line_queue.h"
#include "server/telemetry/log/log_file.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

// JSON lines in a file of their own, so that they hide nothing in the daemon's log. Lossy: what the
// file does not take in time is counted in log_lines_dropped. Thread-safe. There is none unless the
// config asks for it; a line costs its request a few microseconds.
class RequestLog {
 public:
  RequestLog(std::unique_ptr<LogFile> file, ServerMetrics* metrics)
      : lines_(std::move(file), "mpsd-requests", &metrics->log_lines_dropped) {}

  void Write(const EndedRequest& request);

  absl::Status Reopen() { return lines_.Reopen(); }

 private:
  LineQueue lines_;
};

}  // namespace mpsd
