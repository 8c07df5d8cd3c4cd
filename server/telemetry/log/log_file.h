// LogFile: the file, pipe or terminal for log lines.
//
// A log's reader may have stopped, or its disk may be full. The file then loses lines rather than
// time:
//
//   writable ──a full pipe for 100 ms──▶ slow: each line is tried once, without waiting
//       ▲                                  │
//       └────────a line goes through───────┘
//
// A line that was cut in the middle is ended with a line break, so that it does not spoil the next
// one.
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

// Waits at most 100 ms for a slow reader, and not at all while it stays slow. A line that cannot be
// written then, or that a full disk does not take, is lost; the caller counts it. Keeps no line.
// Owned by a LineQueue, whose thread alone writes; any thread may reopen. Thread-safe.
class LogFile {
 public:
  // Appends to the file at `path`, which it creates with mode 0640 if missing. An empty path stands
  // for stderr. UNAVAILABLE if the file cannot be opened.
  static absl::StatusOr<std::unique_ptr<LogFile>> Open(std::string path);

  // Writes to `fd`, for tests and pipes. Reopen() then does nothing.
  explicit LogFile(UniqueFd fd) : fd_(std::move(fd)) {}

  // Opens the path again after a rename: log rotators do so with SIGUSR1. The writing thread uses
  // the old file until then, so that no line is lost. UNAVAILABLE if the path cannot be opened; the
  // old file stays in use. Does nothing for stderr.
  absl::Status Reopen();

  // Writes `line` and a line break. False if any part is lost.
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
