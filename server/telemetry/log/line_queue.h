// LineQueue: lines on their way to a file, which never hold up whoever writes them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "server/telemetry/log/log_file.h"

namespace mpsd {

inline constexpr uint32_t kLogQueueLines = 1024;

// Lossy: the oldest lines when the writing thread lags, and those that the file does not take, are
// counted. Thread-safe. Outlives whoever writes.
class LineQueue {
 public:
  // Starts the writing thread of that name. `lost_lines` outlives the queue.
  LineQueue(std::unique_ptr<LogFile> file, const char* thread_name,
            std::atomic<uint64_t>* lost_lines);

  // Writes what is queued, as far as the reader takes it, and joins the thread.
  ~LineQueue();
  LineQueue(const LineQueue&) = delete;
  LineQueue& operator=(const LineQueue&) = delete;

  void Write(const std::string& line);

  bool IsTerminal() const;

  // Opens the file's path anew.
  absl::Status Reopen();

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace mpsd
