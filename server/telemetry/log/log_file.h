// LogFile: the file, pipe or terminal that log lines go to.
//
// A log may be read by a program that has stopped reading, or lie on a disk that is full. The file
// then loses lines rather than time:
//
//   writable ──a full pipe for 100 ms──▶ slow: each line is tried once, without waiting
//       ▲                                  │
//       └────────a line goes through───────┘
//
// A line that was cut off in the middle is ended with a line break before the next one, so that a
// loss never spoils the line after it.
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
// cannot be written then, or that a full disk does not take, is lost; the caller counts it. Keeps
// no line. Owned by a LineQueue, whose thread is the only one that writes; any thread may reopen.
// Thread-safe.
class LogFile {
 public:
  // Appends to the file at `path`, and creates the file if it is missing, with mode 0640. An empty
  // path stands for stderr. UNAVAILABLE if the file cannot be opened.
  static absl::StatusOr<std::unique_ptr<LogFile>> Open(std::string path);

  // Writes to `fd`, for tests and pipes. Reopen() does nothing then.
  explicit LogFile(UniqueFd fd) : fd_(std::move(fd)) {}

  // Opens the path again after the file was renamed: how log rotators work, after SIGUSR1. The
  // thread that writes goes on with the old file until then, so that no line is lost. UNAVAILABLE
  // if the path cannot be opened; the old file stays in use. Does nothing for stderr.
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
