#include "server/telemetry/log/log.h"

#include <atomic>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "proto/base/limits.h"
#include "proto/base/rate_limit.h"

namespace mpsd {

static_assert(std::atomic<LogSwitches>::is_always_lock_free);

LogSwitches LogSwitches::Of(LogLevel level) {
  LogSwitches switches;
  switches.verbose_level = level == LogLevel::kDebug ? 1 : 0;
  switches.info = level <= LogLevel::kInfo;
  switches.warning = level <= LogLevel::kWarn;
  return switches;
}

bool LogSwitches::Has(LogLevel level) const {
  switch (level) {
    case LogLevel::kDebug:
      return verbose_level > 0;
    case LogLevel::kInfo:
      return info;
    case LogLevel::kWarn:
      return warning;
    case LogLevel::kError:
      return error;
  }
  return true;
}

struct Logger::Impl {
  Impl(std::unique_ptr<LogFile> log_file, LogLevel lowest, const Clock* host_clock,
       ServerMetrics* server_metrics)
      : lines(std::move(log_file), "mpsd-log", &server_metrics->log_lines_dropped),
        readable(lines.IsTerminal()),
        clock(host_clock),
        metrics(server_metrics),
        switches(LogSwitches::Of(lowest)),
        limit(kLogLinesPerSecond, host_clock->NowNs()),
        grave_limit(kLogLinesPerSecond, host_clock->NowNs()) {}

  // Warnings and errors have their own limit: many lines of a worker must not hide its death.
  bool Allowed(LogLevel line_level) {
    absl::MutexLock lock(&mu);
    return (line_level < LogLevel::kWarn ? limit : grave_limit).Take(clock->NowNs());
  }

  LineQueue lines;
  const bool readable;
  const Clock* const clock;
  ServerMetrics* const metrics;
  std::atomic<LogSwitches> switches;

  absl::Mutex mu;
  RateLimit limit ABSL_GUARDED_BY(mu);
  RateLimit grave_limit ABSL_GUARDED_BY(mu);
};

Logger::Logger(std::unique_ptr<LogFile> file, LogLevel level, const Clock* clock,
               ServerMetrics* metrics)
    : impl_(std::make_unique<Impl>(std::move(file), level, clock, metrics)) {}

Logger::~Logger() = default;

void Logger::Log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  if (!switches().Has(level)) return;
  if (!impl_->Allowed(level)) {
    impl_->metrics->log_lines_dropped.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  const absl::Span<const LogField> span(fields.begin(), fields.size());
  const std::string line = impl_->readable ? ReadableLine(absl::Now(), level, event, span)
                                           : JsonLine(absl::Now(), level, event, span);
  impl_->lines.Write(line);
}

void Logger::Set(const LogSwitches& switches) {
  impl_->switches.store(switches, std::memory_order_relaxed);
}

LogSwitches Logger::switches() const { return impl_->switches.load(std::memory_order_relaxed); }

absl::Status Logger::Reopen() { return impl_->lines.Reopen(); }

}  // namespace mpsd
