// WorkerProcess: one incarnation of a worker, as a process with its socket and its output.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "proto/base/fd.h"
#include "proto/base/platform.h"
#include "proto/link/messages.h"
#include "server/supervise/process/folder_remover.h"

namespace mpsd {

struct WorkerProcessOptions {
  std::string binary;
  std::string model;
  std::string temporary_folder;  // made for this incarnation alone, removed when it is gone
  uint32_t threads = 1;          // of the BLAS and OpenMP libraries, a lane each
};

// Lives on the supervisor's thread, which it never blocks but where it says so. The destructor
// REQUIRES that the process was reaped.
class WorkerProcess {
 public:
  // Spawns it. Three tokens follow each other from `first_token`: control socket, output, exit.
  static absl::StatusOr<std::unique_ptr<WorkerProcess>> Spawn(const WorkerProcessOptions& options,
                                                              platform::Poller* poller,
                                                              uint64_t first_token,
                                                              FolderRemover* remover);
  ~WorkerProcess();

  pid_t pid() const { return pid_; }

  // RESOURCE_EXHAUSTED when the worker has left too much unread. What its socket does not take at
  // once goes with Flush(), which is to be called now and then.
  absl::Status Send(const Message& message, absl::Span<const int> fds = {});
  absl::Status Flush();

  // The next message, once the control token was reported. See MessageReader::Read().
  absl::StatusOr<MessageReader::Received> Receive() { return reader_.Read(control_.get()); }

  // Some of what it wrote, once the output token was reported; nothing when nothing is there.
  std::string ReadOutput();
  bool output_ended() const { return !output_.valid(); }

  // While paused nobody reads what the worker writes, and sooner or later it waits.
  void PauseOutput(bool paused);

  // Closes the control socket: a worker that is well exits.
  void Hang();

  // True while somebody's SIGSTOP holds it.
  bool Stopped() const;

  // SIGKILL. The process is gone only when Reap() says so.
  void Kill();

  // The wait status, once the exit token was reported or Kill() was called; -1 while it lives.
  // With `wait`, blocks until it is gone.
  int Reap(bool wait);

 private:
  WorkerProcess(platform::Poller* poller, uint64_t first_token, FolderRemover* remover)
      : poller_(poller), first_token_(first_token), remover_(remover) {}

  platform::Poller* const poller_;
  const uint64_t first_token_;
  FolderRemover* const remover_;
  pid_t pid_ = -1;
  bool reaped_ = false;
  UniqueFd control_;
  UniqueFd output_;
  UniqueFd exit_;
  bool output_paused_ = false;
  MessageReader reader_;
  MessageWriter writer_;
  std::string temporary_folder_;
};

}  // namespace mpsd
