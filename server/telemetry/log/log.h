// Logger: writes structured log lines about the daemon. A caller never waits for the file.
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

// A level of the config turns on itself and those above; clients may turn on each by itself.
struct LogSwitches {
  bool info = true;
  bool warning = true;
  bool error = true;
  uint32_t verbose_level = 0;  // above 0: level "debug"

  static LogSwitches Of(LogLevel level);
  bool Has(LogLevel level) const;

  bool operator==(const LogSwitches&) const = default;
};

// For rare events, never for each request: a line costs a few microseconds and allocates.
//
// Lossy: lines beyond kLogLinesPerSecond, of a full queue and for a stalled file are dropped, and
// counted in log_lines_dropped. Warnings and errors have a rate of their own, so that a worker that
// writes without end cannot hide its own death.
//
// Owned by the daemon, made before all parts that log and ended after them. Thread-safe.
class Logger {
 public:
  Logger(std::unique_ptr<LogFile> file, LogLevel level, const Clock* clock, ServerMetrics* metrics);

  // Writes the queued lines, as far as the file takes them.
  ~Logger();
  Logger(const Logger&) = delete;
  Logger& operator=(const Logger&) = delete;

  // `event` is a short name in snake_case: "worker_died". It must not change, because alerts and
  // tests look for it. Does not wait; cannot fail.
  void Log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields = {});

  void Set(const LogSwitches& switches);
  LogSwitches switches() const;

  // See LogFile.
  absl::Status Reopen();

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace mpsd
