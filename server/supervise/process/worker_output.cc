#include "server/supervise/process/worker_output.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "proto/base/limits.h"

namespace mpsd {

std::string Printable(const std::string& text) {
  std::string line = text.substr(0, kWorkerLineBytes);
  const bool plain = std::all_of(line.begin(), line.end(), absl::ascii_isprint);
  return plain ? line : absl::CEscape(line).substr(0, kWorkerLineBytes);
}

void WorkerOutput::Take(std::string_view bytes, int64_t now_ns, const OnLine& on_line) {
  for (const char c : bytes) {
    if (c != '\n') line_.push_back(c);
    const bool ends = c == '\n' || line_.size() >= kWorkerLineBytes;
    if (ends && !line_.empty()) TakeLine(now_ns, on_line);
  }
}

void WorkerOutput::End(int64_t now_ns, const OnLine& on_line) {
  if (!line_.empty()) TakeLine(now_ns, on_line);
}

void WorkerOutput::Keep(const std::string& line) {
  if (last_lines_.size() == kWorkerLinesKept) last_lines_.pop_front();
  last_lines_.push_back(Printable(line));
}

void WorkerOutput::TakeLine(int64_t now_ns, const OnLine& on_line) {
  const std::string line = std::exchange(line_, {});
  Keep(line);
  if (limit_.Take(now_ns)) {
    on_line(line);
  } else {
    ++dropped_;
  }
}

}  // namespace mpsd
