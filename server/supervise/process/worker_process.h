// WorkerProcess: one incarnation of a worker.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "proto/link/messages.h"

namespace mpsd {

// Their tokens begin with the one that the worker was spawned with.
enum class WorkerEvent {
  kControl,  // something to read, or the end
  kOutput,   // something to read, or the end
  kExit,     // Reap() may still say -1 for a moment
};
inline constexpr uint64_t kTokensPerWorker = 3;

// Made by WorkerHost::Spawn(), owned by its SupervisedWorker. Lives on the supervisor's thread.
// Only Reap(true) blocks.
//
// Invariants:
//   1. The process is gone only when Reap() has returned its wait status. Until then it may write
//      to the memory that it was given.
//   2. Reap() returns a wait status once, and no other method touches the process afterwards.
//   3. Messages, output and the wait status come in any order: the exit may be reported before the
//      last message.
class WorkerProcess {
 public:
  // REQUIRES: the process was reaped.
  virtual ~WorkerProcess() = default;

  virtual pid_t pid() const = 0;

  // Copies the descriptors. The rest that the socket does not take leaves with Flush(), called at
  // each tick. RESOURCE_EXHAUSTED if the worker has left too much unread. A worker that is gone is
  // no error: its exit tells.
  virtual absl::Status Send(const Message& message, absl::Span<const int> fds) = 0;

  // An error says why the kernel takes nothing for a living worker; the next call tries again.
  virtual absl::Status Flush() = 0;

  // Called once the control token was reported. OUT_OF_RANGE: no whole message; UNAVAILABLE: end of
  // file; any other error: the worker broke the protocol.
  virtual absl::StatusOr<MessageReader::Received> Receive() = 0;

  // Called once the output token was reported; the text may be empty.
  virtual std::string ReadOutput() = 0;
  virtual bool output_ended() const = 0;

  // While paused the output token is not reported, and the worker waits once its pipe is full.
  virtual void PauseOutput(bool paused) = 0;

  // Closes the control socket; a healthy worker then exits. Idempotent.
  virtual void Hang() = 0;

  // Whether a SIGSTOP from outside holds the process.
  virtual bool Stopped() const = 0;

  // Sends SIGKILL, unless the process was reaped.
  virtual void Kill() = 0;

  // Called once the exit token was reported or Kill() was called. -1 while the process lives; with
  // `wait` it blocks until the end. REQUIRES: it was not reaped before.
  virtual int Reap(bool wait) = 0;

  // 0: unknown.
  virtual uint64_t ResidentBytes() const = 0;
};

}  // namespace mpsd
