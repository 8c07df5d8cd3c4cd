// LogFile: the descriptor that log lines go to, which may be a file, a pipe or a terminal.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "proto/base/fd.h"

namespace mpsd {

// Thread-safe. Never waits longer than 100 ms for a reader that is slow, and not at all while it
// stays so: a line that cannot be written is lost. A disk that is full loses lines likewise.
class LogFile {
 public:
  // Appends to the file at `path`, made if missing; an empty path stands for stderr.
  static absl::StatusOr<std::unique_ptr<LogFile>> Open(std::string path);

  // For tests and pipes: writes to what `fd` names. Reopen() leaves it as it is.
  explicit LogFile(UniqueFd fd) : fd_(std::move(fd)) {}

  // Opens the path anew, for whoever rotates logs. On an error the old file goes on.
  absl::Status Reopen();

  // Writes `line` and a line break. False when it is lost, wholly or in part.
  bool Write(std::string_view line);

  bool IsTerminal() const;

 private:
  LogFile(std::string path, UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  bool WriteAll(std::string_view bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::string path_;

  mutable absl::Mutex mu_;
  UniqueFd fd_ ABSL_GUARDED_BY(mu_);
  bool slow_ ABSL_GUARDED_BY(mu_) = false;      // the last line met a full pipe
  bool cut_line_ ABSL_GUARDED_BY(mu_) = false;  // the last line was lost halfway
};

}  // namespace mpsd
