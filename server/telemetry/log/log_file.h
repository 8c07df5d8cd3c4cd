// LogFile: the file, pipe or terminal for log lines.
//
// A log's reader may have stopped, or its disk may be full. The file then loses lines rather than
// time:
//
//   writable ──a full pipe for 100 ms──▶ slow: each line is tried once, without waiting
//       ▲                                  │
//       └────────a line goes through───────┘
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

// The caller counts lost lines. Owned by a LineQueue, whose thread alone writes; any thread may
// reopen. Thread-safe.
class LogFile {
 public:
  // Creates a missing file with mode 0640. An empty path stands for stderr. UNAVAILABLE if the file
  // cannot be opened.
  static absl::StatusOr<std::unique_ptr<LogFile>> Open(std::string path);

  // For tests and pipes. Reopen() then does nothing.
  explicit LogFile(UniqueFd fd) : fd_(std::move(fd)) {}

  // After a rename: log rotators do so with SIGUSR1. UNAVAILABLE if the path cannot be opened; the
  // old file stays in use. Does nothing for stderr.
  absl::Status Reopen();

  // Adds a line break. False if any part is lost.
  bool Write(std::string_view line);

  bool IsTerminal() const;

 private:
  LogFile(std::string path, UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  bool WriteAll(std::string_view bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::string path_;

  mutable absl::Mutex mu_;
  UniqueFd fd_ ABSL_GUARDED_BY(mu_);
  bool slow_ ABSL_GUARDED_BY(mu_) = false;      // the last line found a full pipe
  bool cut_line_ ABSL_GUARDED_BY(mu_) = false;  // a break precedes the next line
};

}  // namespace mpsd
