// LogFile: the file, pipe or terminal that log lines go to.
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

// Waits at most 100 ms for a slow reader, and not at all while the reader stays slow. A line that
// cannot be written then, or that a full disk does not take, is lost. Owned by a LineQueue.
// Thread-safe.
class LogFile {
 public:
  // Appends to the file at `path`, and creates the file if it is missing. An empty path stands for
  // stderr. UNAVAILABLE if the file cannot be opened.
  static absl::StatusOr<std::unique_ptr<LogFile>> Open(std::string path);

  // Writes to `fd`, for tests and pipes. Reopen() does nothing then.
  explicit LogFile(UniqueFd fd) : fd_(std::move(fd)) {}

  // Opens the path again after the file was renamed. On an error the old file stays in use.
  absl::Status Reopen();

  // Writes `line` and a line break. False if the line is lost, wholly or in part.
  bool Write(std::string_view line);

  bool IsTerminal() const;

 private:
  LogFile(std::string path, UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  bool WriteAll(std::string_view bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::string path_;

  mutable absl::Mutex mu_;
  UniqueFd fd_ ABSL_GUARDED_BY(mu_);
  bool slow_ ABSL_GUARDED_BY(mu_) = false;      // the last line found a full pipe
  bool cut_line_ ABSL_GUARDED_BY(mu_) = false;  // the last line was written in part
};

}  // namespace mpsd
