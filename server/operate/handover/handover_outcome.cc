#include "server/operate/handover/handover_outcome.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "proto/files/whole_file.h"

namespace mpsd {
namespace {

constexpr uint64_t kMostBytes = 64 << 10;

std::string FileIn(const std::string& state_dir) { return state_dir + "/mpsd.handover"; }

}  // namespace

// The file's first line is the code, the rest the text.
absl::Status WriteHandoverOutcome(const std::string& state_dir, const absl::Status& outcome) {
  const std::string path = FileIn(state_dir);
  const std::string fresh = path + ".new";
  const std::string text =
      absl::StrCat(outcome.raw_code(), "\n", outcome.message().substr(0, kMostBytes / 2));
  const absl::Status written = WriteWholeFile(fresh, text);
  if (!written.ok()) return written;
  if (rename(fresh.c_str(), path.c_str()) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path));
}

std::optional<absl::Status> ReadHandoverOutcome(const std::string& state_dir) {
  const absl::StatusOr<std::string> text = ReadRegularFile(FileIn(state_dir), kMostBytes);
  if (!text.ok()) return std::nullopt;
  const std::pair<std::string, std::string> parts = absl::StrSplit(*text, absl::MaxSplits('\n', 1));
  int code = 0;
  if (!absl::SimpleAtoi(parts.first, &code)) return std::nullopt;
  return absl::Status(static_cast<absl::StatusCode>(code), parts.second);
}

void ForgetHandoverOutcome(const std::string& state_dir) { unlink(FileIn(state_dir).c_str()); }

}  // namespace mpsd
