// WorkerOutput: what a worker writes to its standard streams, line by line, and no more than can be
// read.
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

// A worker says what it likes, and as much of it. What is not plain text is escaped, so that a line
// stays one line, a message UTF-8 and a terminal as it was; what goes beyond kWorkerLineBytes is
// cut off, so that what is told of all workers fits into an answer.
std::string Printable(const std::string& text);

// Cuts a stream of bytes into lines. Hostile: any bytes, of any number. Lines beyond the rate are
// dropped and counted; the last ones are kept all the same, for whoever asks why it died. Pure.
// Thread-compatible.
class WorkerOutput {
 public:
  // Called for each line within the rate.
  using OnLine = std::function<void(const std::string& line)>;

  explicit WorkerOutput(int64_t now_ns) : limit_(kWorkerLinesPerSecond, now_ns) {}

  void Take(std::string_view bytes, int64_t now_ns, const OnLine& on_line);

  // The stream has ended: what stands in it without a line break is a line too.
  void End(int64_t now_ns, const OnLine& on_line);

  // The lines that were dropped since this was asked last.
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
