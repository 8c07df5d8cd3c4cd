#include "server/supervise/process/worker_output.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "proto/base/limits.h"
#include "proto/base/utf8.h"

namespace mpsd {

namespace {

// A terminal may obey the second range too.
bool IsControl(absl::string_view character) {
  if (character.size() == 1) return !absl::ascii_isprint(character[0]);
  return character[0] == '\xC2' && static_cast<uint8_t>(character[1]) < 0xA0;
}

}  // namespace

std::string Printable(const std::string& text) {
  absl::string_view rest = text;
  std::string line;
  while (!rest.empty()) {
    const size_t size = CharacterBytes(rest);
    const absl::string_view next = rest.substr(0, std::max<size_t>(size, 1));
    const std::string piece =
        size == 0 || IsControl(next) ? absl::CEscape(next) : std::string(next);
    if (line.size() + piece.size() > kWorkerLineBytes) break;
    line += piece;
    rest.remove_prefix(next.size());
  }
  return line;
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
