// LineQueue: lines on their way to a file. A writer never waits for the file.
//
//   Write() ─▶ queue of kLogQueueLines lines ─▶ the queue's thread ─▶ LogFile
//                     │ full: the oldest is dropped                    │ slow or full: dropped
//                     └──────────────▶ lost_lines ◀────────────────────┘
//
// Each log has a queue of its own, so that one slow file delays no other.
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

// Owned by its log, outlives its writers. Thread-safe.
class LineQueue {
 public:
  // REQUIRES: a file and a counter.
  LineQueue(std::unique_ptr<LogFile> file, const char* thread_name,
            std::atomic<uint64_t>* lost_lines);

  // Writes the queued lines, as far as the file takes them. A stalled file costs a tenth of a
  // second once, not for each line.
  ~LineQueue();
  LineQueue(const LineQueue&) = delete;
  LineQueue& operator=(const LineQueue&) = delete;

  // Adds the line break. Waits only for other writers of this queue.
  void Write(const std::string& line);

  bool IsTerminal() const;

  // On the caller's thread; see LogFile.
  absl::Status Reopen();

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace mpsd
