// WorkerOutput: cuts a worker's output into lines, at a bounded rate.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "proto/base/limits.h"
#include "proto/base/rate_limit.h"

namespace mpsd {

// Escapes control characters and bytes that are not UTF-8, so that a line stays one line and no
// terminal is controlled. Cuts the text off after kWorkerLineBytes.
//
//   "Größe\x1b[31m\xff"  ─▶  "Größe\\033[31m\\377"
std::string Printable(const std::string& text);

// Treats the bytes as hostile: drops and counts lines beyond the rate, but keeps the last
// kWorkerLinesKept, each at most kWorkerLineBytes long. Owned by a SupervisedWorker. Pure.
// Thread-compatible.
class WorkerOutput {
 public:
  // Called for each line within the rate.
  using OnLine = std::function<void(const std::string& line)>;

  explicit WorkerOutput(int64_t now_ns) : limit_(kWorkerLinesPerSecond, now_ns) {}

  // The bytes may be cut anywhere. Calls `on_line` before it returns. A line longer than
  // kWorkerLineBytes becomes several; empty lines are skipped.
  void Take(std::string_view bytes, int64_t now_ns, const OnLine& on_line);

  // Bytes after the last line break are a line too.
  void End(int64_t now_ns, const OnLine& on_line);

  // Keeps a line from a message as if it had been written.
  void Keep(const std::string& line);

  // Lines dropped since the last call.
  uint64_t TakeDropped() { return std::exchange(dropped_, 0); }

  // Printable, the oldest first.
  const std::deque<std::string>& last_lines() const { return last_lines_; }

 private:
  void TakeLine(int64_t now_ns, const OnLine& on_line);

  RateLimit limit_;
  std::string line_;
  uint64_t dropped_ = 0;
  std::deque<std::string> last_lines_;
};

}  // namespace mpsd
