// Logger: writes structured log lines. A caller never waits for the file.
//
// The log tells an operator what happened to the daemon: workers that died, models that came and
// went, refused calls. Requests have their own log (RequestLog), which would hide the rest here;
// their figures are in /metrics.
//
//   logger->Log(LogLevel::kInfo, "worker_ready", {{"model", name}, {"lanes", lanes}});
#pragma once

#include <cstdint>
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

// The lines that are written. A level of the config turns on itself and those above; clients may
// turn on each by itself.
struct LogSwitches {
  bool info = true;
  bool warning = true;
  bool error = true;
  uint32_t verbose_level = 0;  // above 0: lines of the level "debug"

  // The switches of a level. Pure.
  static LogSwitches Of(LogLevel level);
  // Whether lines of that level are written. Pure.
  bool Has(LogLevel level) const;

  bool operator==(const LogSwitches&) const = default;
};

// Writes JSON lines, or readable ones on a terminal (log_line.h). For rare events, never for each
// request: a line costs a few microseconds and allocates.
//
// Lossy, in this order. Lines that are switched off are not made. Lines beyond kLogLinesPerSecond
// are dropped. A full queue drops its oldest lines (LineQueue). A stalled file loses lines
// (LogFile). All except the first are counted in log_lines_dropped. Warnings and errors have a rate
// of their own, so that a worker that writes without end cannot hide its own death.
//
// Owned by the daemon, made before all parts that log and ended after them. Thread-safe.
class Logger {
 public:
  // Starts the writing thread. `clock` and `metrics` outlive the logger.
  Logger(std::unique_ptr<LogFile> file, LogLevel level, const Clock* clock, ServerMetrics* metrics);

  // Writes the queued lines, as far as the file takes them, and joins the thread.
  ~Logger();
  Logger(const Logger&) = delete;
  Logger& operator=(const Logger&) = delete;

  // `event` is a short name in snake_case for searches: "worker_died". It must not change, because
  // alerts and tests look for it. The views of `fields` live until the call returns. Does not wait;
  // cannot fail.
  void Log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields = {});

  // Sets which lines are written from now on. Called by a reload, or for a client that may control
  // the daemon.
  void Set(const LogSwitches& switches);
  LogSwitches switches() const;

  // Opens the log's path again; see LogFile.
  absl::Status Reopen();

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace mpsd
