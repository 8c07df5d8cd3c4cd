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

struct CopierProcessOptions {
  std::string binary;
  std::vector<std::string> environment;  // complete, "NAME=value"
};

// How a copier's thread waits for an answer, the end of the process, or a ring. One object for all
// incarnations of the copier. Lives on that thread, except the bell's ring_fd and the flag, which
// any thread uses to wake it. The bell is in the poller's set.
struct CopierWaiter {
  static constexpr uint64_t kSocket = 1;
  static constexpr uint64_t kExit = 2;
  static constexpr uint64_t kBell = 3;

  platform::Poller poller;
  platform::Bell bell;
  std::atomic<bool> stopping{false};  // once true, nothing is waited for any more

  // Returns the tokens that are ready, none after the time-out. Clears a ring: the caller must look
  // for its reason before it waits again.
  std::vector<uint64_t> Wait(int64_t timeout_ns);
};

// The front end does not load the CUDA driver. A separate process with just the driver opens
// clients' handles (decision 0012). This is the front end's side of it:
//
//   bytes_to_write()  ──── ours: the front end writes, 8 MiB ────▶  device
//   read_bytes()      ◀─── theirs: the copier writes, 8 MiB ─────   device
//   Do()              ──── socket: CopyOrder ──▶ ◀── CopyOutcome    one at a time
//
// Spawned, then started with the order kStart, then given orders until it ends or is killed. Owned
// by DeviceCopies, which replaces it.
//
// Lives on one thread. Everything that the process says is checked before use, and nothing that it
// does can hold up the thread. The segment that it writes is sealed against shrinking, mapped
// read-only, and read once.
class CopierProcess {
 public:
  // Spawns the process; the caller must then start it with an order. `waiter` outlives it.
  static absl::StatusOr<std::unique_ptr<CopierProcess>> Spawn(const CopierProcessOptions& options,
                                                              CopierWaiter* waiter);

  // REQUIRES: it is gone.
  ~CopierProcess();
  CopierProcess(const CopierProcess&) = delete;
  CopierProcess& operator=(const CopierProcess&) = delete;

  // Sends the order and waits for its outcome. After an error the process is useless and must be
  // killed: it died, does not answer in time, or lies. CANCELLED if it need not be waited for any
  // more.
  absl::StatusOr<CopyOutcome> Do(CopyOrder order, int64_t timeout_ns);

  // Memory for one order; a larger copy takes several. The process may change read_bytes() at any
  // time: readers copy the bytes once.
  absl::Span<const char> read_bytes() const;
  absl::Span<char> bytes_to_write() const;

  pid_t pid() const { return pid_; }

  // Whether it has ended by itself. It must still be reaped.
  bool HasEnded() const;

  // Sends SIGKILL and returns. WaitUntilGone() tells when the process is gone; a device may hold it
  // for long.
  void Kill();

  // Waits up to `timeout_ns` for the process to go, and reaps it. Returns whether it is gone.
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
