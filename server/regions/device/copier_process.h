// CopierProcess: one incarnation of mpsd-device-copier.
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

// How the copier's thread waits for an answer, the end of the process, or a ring. Lives on that
// thread, except the bell's ring_fd and the flag, which any thread uses.
struct CopierWaiter {
  static constexpr uint64_t kSocket = 1;
  static constexpr uint64_t kExit = 2;
  static constexpr uint64_t kBell = 3;

  platform::Poller poller;
  platform::Bell bell;
  std::atomic<bool> stopping{false};  // true: nothing is waited for

  // The tokens that are ready, none after the time-out. Clears a ring: the caller looks for its
  // reason before it waits again.
  std::vector<uint64_t> Wait(int64_t timeout_ns);
};

// The front end does not load the CUDA driver: this process opens clients' handles (decision 0012).
//
//   bytes_to_write()  ──── ours: the front end writes, 8 MiB ────▶  device
//   read_bytes()      ◀─── theirs: the copier writes, 8 MiB ─────   device
//   Do()              ──── socket: CopyOrder ──▶ ◀── CopyOutcome    one at a time
//
// Owned by DeviceCopies, which replaces it. Lives on one thread, which nothing that the process
// does can hold up. The process is not trusted: its segment is sealed against shrinking, mapped
// read-only, and read once.
class CopierProcess {
 public:
  // The first order must be kStart. `waiter` outlives the process.
  static absl::StatusOr<std::unique_ptr<CopierProcess>> Spawn(const CopierProcessOptions& options,
                                                              CopierWaiter* waiter);

  // REQUIRES: it is gone.
  ~CopierProcess();
  CopierProcess(const CopierProcess&) = delete;
  CopierProcess& operator=(const CopierProcess&) = delete;

  // After an error the process must be killed: it died, is late, or lies. CANCELLED if nobody need
  // wait any more.
  absl::StatusOr<CopyOutcome> Do(CopyOrder order, int64_t timeout_ns);

  // Memory for one order. The process may change read_bytes() at any time: readers copy them once.
  absl::Span<const char> read_bytes() const;
  absl::Span<char> bytes_to_write() const;

  pid_t pid() const { return pid_; }

  // It must still be reaped.
  bool HasEnded() const;

  // A device may hold the process for long: see WaitUntilGone().
  void Kill();

  // Reaps the process. Returns whether it is gone.
  bool WaitUntilGone(int64_t timeout_ns);

 private:
  explicit CopierProcess(CopierWaiter* waiter) : waiter_(waiter) {}

  absl::Status Send(const CopyOrder& order);
  absl::Status WaitForAnswer(int64_t until_ns);
  absl::StatusOr<CopyOutcome> Receive(int64_t until_ns);

  CopierWaiter* const waiter_;
  platform::SharedMemory ours_;    // the copier reads this
  platform::SharedMemory theirs_;  // the copier writes this
  pid_t pid_ = -1;
  bool gone_ = true;
  UniqueFd socket_;
  UniqueFd exit_;
  uint64_t orders_ = 0;
};

}  // namespace mpsd
