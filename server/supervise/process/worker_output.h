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

// Makes a worker's words safe to show. Escapes only control characters and bytes that are not
// UTF-8. So a line stays one line, a message stays UTF-8 and no terminal is controlled. Cuts the
// text off after kWorkerLineBytes, so that the words of all workers fit into one answer.
//
//   "Größe\x1b[31m\xff"  ─▶  "Größe\\033[31m\\377"
std::string Printable(const std::string& text);

// Treats the bytes as hostile. Drops and counts lines beyond the rate. Keeps the last
// kWorkerLinesKept lines in any case, to say why a worker died. It keeps nothing but these lines
// and the unfinished one, each at most kWorkerLineBytes long. Owned by a SupervisedWorker. Pure.
// Thread-compatible.
class WorkerOutput {
 public:
  // Called for each line within the rate, as it was written.
  using OnLine = std::function<void(const std::string& line)>;

  explicit WorkerOutput(int64_t now_ns) : limit_(kWorkerLinesPerSecond, now_ns) {}

  // Takes the stream's next bytes, cut anywhere. Calls `on_line` before it returns. A line longer
  // than kWorkerLineBytes becomes several; an empty line is skipped.
  void Take(std::string_view bytes, int64_t now_ns, const OnLine& on_line);

  // The stream has ended: bytes after the last line break are a line too.
  void End(int64_t now_ns, const OnLine& on_line);

  // Keeps a line from a worker's message as if it had been written.
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
