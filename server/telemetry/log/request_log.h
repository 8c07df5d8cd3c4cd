// RequestLog: writes one line for each request that ends, refused ones too.
//
//   {"time":…,"level":"info","event":"request","id":"7","model":"resnet","version":"1","code":"OK",
//    "rows":4,"queue_us":310,"total_us":5120,"trace_id":"4bf9…"}
#pragma once

#include <memory>

#include "absl/status/status.h"
#include "server/telemetry/log/ended_request.h"
#include "server/telemetry/log/line_queue.h"
#include "server/telemetry/log/log_file.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

// Exists only if the config names a file ("log": {"requests": …}). No rate limit, but lossy: lines
// that the file does not take in time count in log_lines_dropped. Owned by the daemon, outlives the
// HttpServer. Thread-safe.
class RequestLog {
 public:
  // Starts the thread "mpsd-requests".
  RequestLog(std::unique_ptr<LogFile> file, ServerMetrics* metrics)
      : lines_(std::move(file), "mpsd-requests", &metrics->log_lines_dropped) {}

  // Does not wait. A request without a batch has spent all its time in the queue.
  void Write(const EndedRequest& request);

  // See LogFile.
  absl::Status Reopen() { return lines_.Reopen(); }

 private:
  LineQueue lines_;
};

}  // namespace mpsd
