#include "server/telemetry/log/line_queue.h"

#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "proto/base/check.h"
#include "proto/base/platform.h"
#include "spdlog/async_logger.h"
#include "spdlog/details/null_mutex.h"
#include "spdlog/details/thread_pool.h"
#include "spdlog/sinks/base_sink.h"

namespace mpsd {
namespace {

// The end of spdlog's queue. Lives on spdlog's thread.
class FileSink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  FileSink(LogFile* file, std::atomic<uint64_t>* lost_lines)
      : file_(file), lost_lines_(lost_lines) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    if (file_->Write({message.payload.data(), message.payload.size()})) return;
    lost_lines_->fetch_add(1, std::memory_order_relaxed);
  }
  void flush_() override {}

 private:
  LogFile* const file_;
  std::atomic<uint64_t>* const lost_lines_;
};

}  // namespace

struct LineQueue::Impl {
  Impl(std::unique_ptr<LogFile> log_file, const char* thread_name, std::atomic<uint64_t>* lost)
      : file(std::move(log_file)),
        lost_lines(lost),
        pool(std::make_shared<spdlog::details::thread_pool>(
            kLogQueueLines, 1, [thread_name] { platform::NameThread(thread_name); })),
        logger(std::make_shared<spdlog::async_logger>(
            thread_name, std::make_shared<FileSink>(file.get(), lost_lines), pool,
            spdlog::async_overflow_policy::overrun_oldest)) {}

  void CountOverruns() {
    absl::MutexLock lock(&mu);
    const size_t overruns = pool->overrun_counter();
    lost_lines->fetch_add(overruns - counted_overruns, std::memory_order_relaxed);
    counted_overruns = overruns;
  }

  const std::unique_ptr<LogFile> file;
  std::atomic<uint64_t>* const lost_lines;

  absl::Mutex mu;
  size_t counted_overruns ABSL_GUARDED_BY(mu) = 0;

  // Queued lines own the logger too. The pool's destructor writes them and joins the thread.
  std::shared_ptr<spdlog::details::thread_pool> pool;
  std::shared_ptr<spdlog::async_logger> logger;
};

LineQueue::LineQueue(std::unique_ptr<LogFile> file, const char* thread_name,
                     std::atomic<uint64_t>* lost_lines)
    : impl_(std::make_unique<Impl>(std::move(file), thread_name, lost_lines)) {
  MPSD_CHECK(impl_->file != nullptr && lost_lines != nullptr);
}

LineQueue::~LineQueue() {
  impl_->CountOverruns();
  impl_->pool.reset();
}

void LineQueue::Write(const std::string& line) {
  impl_->logger->log(spdlog::level::critical, spdlog::string_view_t(line));
  impl_->CountOverruns();
}

bool LineQueue::IsTerminal() const { return impl_->file->IsTerminal(); }

absl::Status LineQueue::Reopen() { return impl_->file->Reopen(); }

}  // namespace mpsd
