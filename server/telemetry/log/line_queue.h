// LineQueue: lines on their way to a file. A writer never waits for the file.
//
// Disks fill up and pipes stand still, and neither may reach a client. So each log has a queue of
// bounded length and a thread that alone touches the file; what does not fit is lost, and the loss
// is counted, never silent:
//
//   Write() ─▶ queue of kLogQueueLines lines ─▶ the queue's thread ─▶ LogFile
//                     │ full: the oldest is dropped                    │ slow or full: dropped
//                     └──────────────▶ lost_lines ◀────────────────────┘
//
// The daemon has up to three: of Logger ("mpsd-log"), RequestLog ("mpsd-requests") and TraceLog
// ("mpsd-traces"). They share nothing, so that one slow file holds up no other.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "server/telemetry/log/log_file.h"

namespace mpsd {

// The lines that wait for the thread, at most.
inline constexpr uint32_t kLogQueueLines = 1024;

// A thread of its own writes the lines, in the order in which they came. Lossy: the queue drops its
// oldest lines when the thread lags, and the file drops lines when its reader is slow; both are
// counted. Owned by the log that it belongs to. Thread-safe. Outlives its writers.
class LineQueue {
 public:
  // Starts the thread under this name. `lost_lines` outlives the queue. REQUIRES: a file and a
  // counter.
  LineQueue(std::unique_ptr<LogFile> file, const char* thread_name,
            std::atomic<uint64_t>* lost_lines);

  // Writes the lines that are queued, as far as the file takes them, and joins the thread. A file
  // that takes nothing costs a tenth of a second once, not for each line.
  ~LineQueue();
  LineQueue(const LineQueue&) = delete;
  LineQueue& operator=(const LineQueue&) = delete;

  // Queues one line, given without its line break. Does not wait for the file, only for other
  // writers of this queue.
  void Write(const std::string& line);

  // Whether the lines go to a terminal, where a person reads them as they come.
  bool IsTerminal() const;

  // Opens the path of the file again, on the caller's thread; see LogFile.
  absl::Status Reopen();

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace mpsd
