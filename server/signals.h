// SignalWaiter: turns signals into state that threads can wait for.
#pragma once

#include <csignal>
#include <functional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace mpsd {

// A thread of its own takes SIGTERM and SIGINT (end), SIGHUP (read the config again) and SIGUSR1
// (the log was rotated, open it again). Made and owned by main, before any other thread, so that
// every thread inherits the blocked signals. Thread-safe.
class SignalWaiter {
 public:
  SignalWaiter();
  ~SignalWaiter();

  // How many times the daemon was asked to end. The first time it drains, the second time it
  // hurries.
  int requests() const;

  // `reopen` is called on the signals' thread for each SIGUSR1. Null: nothing is called. After the
  // return the function before is not called any more; blocks while it runs.
  void OnReopen(std::function<void()> reopen) const;

  // How many times SIGHUP asked to read the config again.
  int hangups() const;

  // Blocks until the daemon is asked to end, or hangups() is not `seen`.
  void WaitForNews(int seen) const;

  // Blocks until the daemon was asked to end that many times, at most for `limit`. True when it
  // was.
  bool WaitFor(int requests, absl::Duration limit) const;

 private:
  void Main();

  sigset_t signals_;
  mutable absl::Mutex mu_;
  int requests_ ABSL_GUARDED_BY(mu_) = 0;
  int hangups_ ABSL_GUARDED_BY(mu_) = 0;
  bool done_ ABSL_GUARDED_BY(mu_) = false;

  mutable absl::Mutex reopen_mu_;  // held during the call
  mutable std::function<void()> reopen_ ABSL_GUARDED_BY(reopen_mu_);

  std::thread thread_;
};

}  // namespace mpsd
