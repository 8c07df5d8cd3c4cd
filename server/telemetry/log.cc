#include "server/telemetry/log.h"

#include <atomic>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "proto/base/platform.h"
#include "server/telemetry/rate_limit.h"
#include "spdlog/async_logger.h"
#include "spdlog/details/null_mutex.h"
#include "spdlog/details/thread_pool.h"
#include "spdlog/sinks/base_sink.h"

namespace mpsd {
namespace {

// Where spdlog's thread puts the lines. A line comes formatted; it is passed on as it is.
class FileSink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  FileSink(LogFile* file, ServerMetrics* metrics) : file_(file), metrics_(metrics) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    if (file_->Write({message.payload.data(), message.payload.size()})) return;
    metrics_->log_lines_dropped.fetch_add(1, std::memory_order_relaxed);
  }
  void flush_() override {}

 private:
  LogFile* const file_;
  ServerMetrics* const metrics_;
};

}  // namespace

struct Logger::Impl {
  Impl(std::unique_ptr<LogFile> log_file, LogLevel lowest, const Clock* host_clock,
       ServerMetrics* server_metrics)
      : file(std::move(log_file)),
        readable(file->IsTerminal()),
        clock(host_clock),
        metrics(server_metrics),
        level(lowest),
        limit(kLogLinesPerSecond, host_clock->NowNs()),
        grave_limit(kLogLinesPerSecond, host_clock->NowNs()),
        pool(std::make_shared<spdlog::details::thread_pool>(
            kLogQueueLines, 1, [] { platform::NameThread("mpsd-log"); })),
        logger(std::make_shared<spdlog::async_logger>(
            "mpsd", std::make_shared<FileSink>(file.get(), metrics), pool,
            spdlog::async_overflow_policy::overrun_oldest)) {}

  // Warnings and errors have a limit of their own: a worker that chatters must not hide its death.
  bool Allowed(LogLevel line_level) {
    absl::MutexLock lock(&mu);
    return (line_level < LogLevel::kWarn ? limit : grave_limit).Take(clock->NowNs());
  }

  // spdlog counts the lines that its queue lost; what is new since the last look is added.
  void CountOverruns() {
    absl::MutexLock lock(&mu);
    const size_t overruns = pool->overrun_counter();
    metrics->log_lines_dropped.fetch_add(overruns - counted_overruns, std::memory_order_relaxed);
    counted_overruns = overruns;
  }

  const std::unique_ptr<LogFile> file;
  const bool readable;
  const Clock* const clock;
  ServerMetrics* const metrics;
  std::atomic<LogLevel> level;

  absl::Mutex mu;
  RateLimit limit ABSL_GUARDED_BY(mu);
  RateLimit grave_limit ABSL_GUARDED_BY(mu);
  size_t counted_overruns ABSL_GUARDED_BY(mu) = 0;

  // The queue's lines hold references on the logger; the pool's destructor writes them and joins.
  std::shared_ptr<spdlog::details::thread_pool> pool;
  std::shared_ptr<spdlog::async_logger> logger;
};

Logger::Logger(std::unique_ptr<LogFile> file, LogLevel level, const Clock* clock,
               ServerMetrics* metrics)
    : impl_(std::make_unique<Impl>(std::move(file), level, clock, metrics)) {}

Logger::~Logger() {
  impl_->CountOverruns();
  impl_->pool.reset();
}

void Logger::Log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  if (level < impl_->level.load(std::memory_order_relaxed)) return;
  if (!impl_->Allowed(level)) {
    impl_->metrics->log_lines_dropped.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  const absl::Span<const LogField> span(fields.begin(), fields.size());
  const std::string line = impl_->readable ? ReadableLine(absl::Now(), level, event, span)
                                           : JsonLine(absl::Now(), level, event, span);
  impl_->logger->log(spdlog::level::critical, spdlog::string_view_t(line));
  impl_->CountOverruns();
}

void Logger::SetLevel(LogLevel level) { impl_->level.store(level, std::memory_order_relaxed); }

LogLevel Logger::level() const { return impl_->level.load(std::memory_order_relaxed); }

absl::Status Logger::Reopen() { return impl_->file->Reopen(); }

}  // namespace mpsd
