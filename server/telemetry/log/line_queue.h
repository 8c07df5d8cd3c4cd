// LineQueue: lines on their way to a file. A writer never waits for the file.
//
// Disks fill up and pipes stall, and neither may reach a client. So each log has a bounded queue,
// and only its thread touches the file. Lines that do not fit are lost, but always counted:
//
//   Write() ─▶ queue of kLogQueueLines lines ─▶ the queue's thread ─▶ LogFile
//                     │ full: the oldest is dropped                    │ slow or full: dropped
//                     └──────────────▶ lost_lines ◀────────────────────┘
//
// The daemon has up to three: for Logger ("mpsd-log"), RequestLog ("mpsd-requests") and TraceLog
// ("mpsd-traces"). They share nothing, so that one slow file delays no other.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "server/telemetry/log/log_file.h"

namespace mpsd {

// Limit of lines that wait for the thread.
inline constexpr uint32_t kLogQueueLines = 1024;

// Its own thread writes the lines in order. Lossy: the queue drops its oldest lines when the thread
// lags, and the file drops lines when its reader is slow; both are counted. Owned by its log.
// Thread-safe. Outlives its writers.
class LineQueue {
 public:
  // Starts the thread under this name. `lost_lines` outlives the queue. REQUIRES: a file and a
  // counter.
  LineQueue(std::unique_ptr<LogFile> file, const char* thread_name,
            std::atomic<uint64_t>* lost_lines);

  // Writes the queued lines, as far as the file takes them, and joins the thread. A stalled file
  // costs a tenth of a second once, not for each line.
  ~LineQueue();
  LineQueue(const LineQueue&) = delete;
  LineQueue& operator=(const LineQueue&) = delete;

  // Queues one line, without its line break. Waits only for other writers of this queue, not for
  // the file.
  void Write(const std::string& line);

  // Whether the lines go to a terminal, where a person reads them.
  bool IsTerminal() const;

  // Opens the file's path again, on the caller's thread; see LogFile.
  absl::Status Reopen();

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace mpsd
