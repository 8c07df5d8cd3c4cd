// CopierProcess: one incarnation of mpsd-device-copier, with the segments that it copies through.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "proto/base/fd.h"
#include "proto/base/platform.h"
#include "proto/link/copier_records.h"

namespace mpsd {

// What is spawned.
struct CopierProcessOptions {
  std::string binary;
  std::vector<std::string> environment;  // whole, "NAME=value"
};

// How a copier's thread waits: for an answer, for the process to end, or to be rung for. One for
// all incarnations of the copier. Lives on that thread, but for the bell's ring_fd and the flag,
// which any thread uses to wake it. The bell is in the poller's set.
struct CopierWaiter {
  static constexpr uint64_t kSocket = 1;
  static constexpr uint64_t kExit = 2;
  static constexpr uint64_t kBell = 3;

  platform::Poller poller;
  platform::Bell bell;
  std::atomic<bool> stopping{false};  // then nothing is waited for any more

  // The tokens of all that is ready, none after the time-out. A ring is cleared: the caller looks
  // for what it was rung for before it waits again.
  const std::vector<uint64_t>& Wait(int64_t timeout_ns);
};

// The front end does not load the CUDA driver: a client's handle is opened by a process that has
// the driver and nothing else (decision 0012). This is the front end's end of it:
//
//   bytes_to_write()  ──── ours: the front end writes, 8 MiB ────▶  device
//   read_bytes()      ◀─── theirs: the copier writes, 8 MiB ─────   device
//   Do()              ──── socket: CopyOrder ──▶ ◀── CopyOutcome    one at a time
//
// Spawned, then started with the order kStart, then given orders until it is killed or ends. Owned
// by DeviceCopies, which replaces one that is of no use any more.
//
// Lives on one thread. Nothing that the process says is believed before it was checked, and nothing
// that it does can hold the thread for longer than it wants to wait: the segment that it writes is
// sealed against shrinking and mapped read-only, and is copied from once.
class CopierProcess {
 public:
  // Spawns it; it has still to be started with an order. `waiter` outlives it.
  static absl::StatusOr<std::unique_ptr<CopierProcess>> Spawn(const CopierProcessOptions& options,
                                                              CopierWaiter* waiter);

  // REQUIRES: it is gone.
  ~CopierProcess();
  CopierProcess(const CopierProcess&) = delete;
  CopierProcess& operator=(const CopierProcess&) = delete;

  // Sends the order and waits for its outcome. On an error the process is of no use any more, and
  // is to be killed: it died, does not answer in time, or lies; CANCELLED when it is no more to be
  // waited for.
  absl::StatusOr<CopyOutcome> Do(CopyOrder order, int64_t timeout_ns);

  // As much as one order can copy: a larger copy takes several. read_bytes() changes whenever the
  // process likes: whoever needs the bytes copies them once.
  absl::Span<const char> read_bytes() const;
  absl::Span<char> bytes_to_write() const;

  pid_t pid() const { return pid_; }

  // Whether it has ended by itself. It is still to be reaped.
  bool HasEnded() const;

  // Sends SIGKILL and returns. The process is gone when WaitUntilGone() says so; one that a device
  // holds may take long.
  void Kill();

  // Whether it is gone; waits for that no longer than this, and reaps it.
  bool WaitUntilGone(int64_t timeout_ns);

 private:
  explicit CopierProcess(CopierWaiter* waiter) : waiter_(waiter) {}

  absl::Status Send(const CopyOrder& order);
  absl::Status WaitForAnswer(int64_t until_ns);
  absl::StatusOr<CopyOutcome> Receive(int64_t until_ns);

  CopierWaiter* const waiter_;
  platform::SharedMemory ours_;    // the copier reads it
  platform::SharedMemory theirs_;  // the copier writes it
  pid_t pid_ = -1;
  bool gone_ = true;
  UniqueFd socket_;
  UniqueFd exit_;
  uint64_t orders_ = 0;
};

}  // namespace mpsd
