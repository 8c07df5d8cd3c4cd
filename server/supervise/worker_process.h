// WorkerProcess: one incarnation of a worker, as a process with its socket and its output.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/base/fd.h"
#include "proto/base/platform.h"
#include "proto/link/messages.h"

namespace mpsd {

struct WorkerProcessOptions {
  std::string binary;
  std::string temporary_folder;  // made for this incarnation, removed when it is gone
  uint32_t threads = 1;          // of the BLAS and OpenMP libraries, a lane each
};

// Lives on the supervisor's thread. The destructor REQUIRES that the process was reaped.
class WorkerProcess {
 public:
  // Spawns it. Three tokens follow each other from `first_token`: control socket, output, exit.
  static absl::StatusOr<std::unique_ptr<WorkerProcess>> Spawn(const WorkerProcessOptions& options,
                                                              platform::Poller* poller,
                                                              uint64_t first_token);
  ~WorkerProcess();

  pid_t pid() const { return pid_; }
  absl::Status Send(const Message& message, absl::Span<const int> fds = {});

  // The next message, once the control token was reported. See MessageReader::Read().
  absl::StatusOr<MessageReader::Received> Receive() { return reader_.Read(control_.get()); }

  // Whole lines that it wrote, once the output token was reported. False at end of file.
  bool ReadOutput(const std::function<void(const std::string&)>& on_line);

  // Closes the control socket: a worker that is well exits.
  void Hang();

  // SIGKILL. The process is gone only when Reap() says so.
  void Kill();

  // The wait status, once the exit token was reported or Kill() was called; -1 while it lives.
  // With `wait`, blocks until it is gone.
  int Reap(bool wait);

 private:
  explicit WorkerProcess(platform::Poller* poller) : poller_(poller) {}

  platform::Poller* const poller_;
  pid_t pid_ = -1;
  bool reaped_ = false;
  UniqueFd control_;
  UniqueFd output_;
  UniqueFd exit_;
  MessageReader reader_;
  std::string line_;
  std::string temporary_folder_;
};

}  // namespace mpsd
