// WorkerOutput: cuts what a worker writes to its standard streams into lines, at a bounded rate.
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

// Makes a worker's words safe to show. Control characters and bytes that are not UTF-8 are escaped,
// and nothing else is, so that a line stays one line, a message stays UTF-8 and a terminal is not
// controlled. The text is cut off after kWorkerLineBytes, so that the words of all workers fit into
// one answer.
//
//   "Größe\x1b[31m\xff"  ─▶  "Größe\\033[31m\\377"
std::string Printable(const std::string& text);

// Treats the bytes as hostile, whatever their content and number. Lines beyond the rate are dropped
// and counted; the last kWorkerLinesKept lines are kept in any case, to say why a worker died.
// Whatever a worker writes, no more is kept than these lines and the one that has not ended, each
// of kWorkerLineBytes at most. Owned by a SupervisedWorker. Pure. Thread-compatible.
class WorkerOutput {
 public:
  // Called for each line within the rate, with the line as it was written.
  using OnLine = std::function<void(const std::string& line)>;

  explicit WorkerOutput(int64_t now_ns) : limit_(kWorkerLinesPerSecond, now_ns) {}

  // The next bytes of the stream, cut anywhere. Calls `on_line` before it returns. A line that is
  // longer than kWorkerLineBytes becomes several, and an empty one none.
  void Take(std::string_view bytes, int64_t now_ns, const OnLine& on_line);

  // The stream has ended: bytes after the last line break are a line too.
  void End(int64_t now_ns, const OnLine& on_line);

  // Keeps a line that the worker has said in a message, as if it had written the line.
  void Keep(const std::string& line);

  // How many lines were dropped since the last call.
  uint64_t TakeDropped() { return std::exchange(dropped_, 0); }

  // The oldest first, printable.
  const std::deque<std::string>& last_lines() const { return last_lines_; }

 private:
  void TakeLine(int64_t now_ns, const OnLine& on_line);

  RateLimit limit_;
  std::string line_;
  uint64_t dropped_ = 0;
  std::deque<std::string> last_lines_;
};

}  // namespace mpsd
