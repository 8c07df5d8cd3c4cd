// RequestLog: writes one line for each request that ends.
//
//   {"time":…,"level":"info","event":"request","id":"7","model":"resnet","version":"1","code":"OK",
//    "rows":4,"queue_us":310,"total_us":5120,"trace_id":"4bf9…"}
//
// A refused request has one too, with the model's name as the client wrote it.
#pragma once

#include <memory>

#include "absl/status/status.h"
#include "server/telemetry/log/ended_request.h"
#include "server/telemetry/log/line_queue.h"
#include "server/telemetry/log/log_file.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

// Writes JSON lines into a file of their own, so that they hide nothing in the daemon's log. Exists
// only if the config names such a file ("log": {"requests": …}). TellEnding() calls it on the
// thread that ends the request, before the client gets the answer; a line costs a few microseconds.
// It has no rate limit, because its operator wants all lines. Still lossy: lines that the file does
// not take in time count in log_lines_dropped. Owned by the daemon, outlives the HttpServer.
// Thread-safe.
class RequestLog {
 public:
  // Starts the thread "mpsd-requests". `metrics` outlives the log.
  RequestLog(std::unique_ptr<LogFile> file, ServerMetrics* metrics)
      : lines_(std::move(file), "mpsd-requests", &metrics->log_lines_dropped) {}

  // Does not wait. A request without a batch has spent all its time in the queue.
  void Write(const EndedRequest& request);

  // Opens the file's path again; see LogFile.
  absl::Status Reopen() { return lines_.Reopen(); }

 private:
  LineQueue lines_;
};

}  // namespace mpsd
