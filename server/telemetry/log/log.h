// Logger: writes structured log lines. A caller never waits for the file.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/clock.h"
#include "server/telemetry/log/line_queue.h"
#include "server/telemetry/log/log_file.h"
#include "server/telemetry/log/log_line.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

// Writes JSON lines; on a terminal, readable lines. For rare events, never for each request: a line
// costs a few microseconds and allocates. Lossy: lines beyond kLogLinesPerSecond, and the oldest
// lines when the writing thread lags, are dropped and counted in log_lines_dropped. Warnings and
// errors have a rate of their own. Owned by the daemon, outlives all callers. Thread-safe.
class Logger {
 public:
  // Starts the writing thread. `clock` and `metrics` outlive the logger.
  Logger(std::unique_ptr<LogFile> file, LogLevel level, const Clock* clock, ServerMetrics* metrics);

  // Writes the lines that are queued, as far as the file takes them, and joins the thread.
  ~Logger();
  Logger(const Logger&) = delete;
  Logger& operator=(const Logger&) = delete;

  // `event` is a short name in snake_case for searches: "worker_died". The views of `fields` live
  // until the call returns. Does not wait.
  void Log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields = {});

  // From now on lines below `level` are not written.
  void SetLevel(LogLevel level);
  LogLevel level() const;

  // Opens the path of the log again; see LogFile.
  absl::Status Reopen();

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace mpsd
