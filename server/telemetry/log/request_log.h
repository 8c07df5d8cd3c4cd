// RequestLog: writes one line for each request that ends.
#pragma once

#include <memory>

#include "absl/status/status.h"
#include "server/telemetry/log/ended_request.h"
#include "server/telemetry/log/line_queue.h"
#include "server/telemetry/log/log_file.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

// Writes JSON lines into a file of their own, so that they hide nothing in the daemon's log. Exists
// only if the config names such a file. A line costs its request a few microseconds. Lossy: lines
// that the file does not take in time are counted in log_lines_dropped. Owned by the daemon.
// Thread-safe.
class RequestLog {
 public:
  RequestLog(std::unique_ptr<LogFile> file, ServerMetrics* metrics)
      : lines_(std::move(file), "mpsd-requests", &metrics->log_lines_dropped) {}

  // Does not wait.
  void Write(const EndedRequest& request);

  absl::Status Reopen() { return lines_.Reopen(); }

 private:
  LineQueue lines_;
};

}  // namespace mpsd
