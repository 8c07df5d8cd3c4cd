// LineQueue: lines on their way to a file. A writer never waits for the file.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "server/telemetry/log/log_file.h"

namespace mpsd {

// The lines that wait for the thread.
inline constexpr uint32_t kLogQueueLines = 1024;

// A thread of its own writes the lines. Lossy: the queue drops its oldest lines when the thread
// lags, and the file drops lines when its reader is slow; both are counted. Thread-safe. Outlives
// its writers.
class LineQueue {
 public:
  // Starts the thread under this name. `lost_lines` outlives the queue. REQUIRES: a file and a
  // counter.
  LineQueue(std::unique_ptr<LogFile> file, const char* thread_name,
            std::atomic<uint64_t>* lost_lines);

  // Writes the lines that are queued, as far as the file takes them, and joins the thread.
  ~LineQueue();
  LineQueue(const LineQueue&) = delete;
  LineQueue& operator=(const LineQueue&) = delete;

  // Queues one line. Does not wait.
  void Write(const std::string& line);

  bool IsTerminal() const;

  // Opens the path of the file again; see LogFile.
  absl::Status Reopen();

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace mpsd
