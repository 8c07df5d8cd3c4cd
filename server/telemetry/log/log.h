// Logger: structured log lines that never hold up whoever writes them.
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

// JSON lines; on a terminal, readable ones. Lossy: lines beyond 200 a second, warnings and errors
// beyond 200 more, and the oldest when the writing thread lags, are counted in log_lines_dropped.
// Thread-safe. Made by main, handed on by reference, outlives whoever logs. It is for rare events,
// never for each request: a line costs a few microseconds and allocates.
class Logger {
 public:
  // Starts the writing thread. `clock` and `metrics` outlive the logger.
  Logger(std::unique_ptr<LogFile> file, LogLevel level, const Clock* clock, ServerMetrics* metrics);

  // Writes what is queued, as far as the reader takes it, and joins the thread.
  ~Logger();
  Logger(const Logger&) = delete;
  Logger& operator=(const Logger&) = delete;

  // `event` is a short name in snake_case by which people search: "worker_died".
  void Log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields = {});

  // Lines below `level` are not written. May change at any time.
  void SetLevel(LogLevel level);
  LogLevel level() const;

  // Opens the log's path anew.
  absl::Status Reopen();

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace mpsd
