// SignalWaiter: turns termination signals into state that others can wait for.
#pragma once

#include <csignal>
#include <functional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace mpsd {

// Made by main before any other thread, so that every thread inherits the blocked signals. Its own
// thread takes SIGTERM and SIGINT, SIGHUP, by which the config is to be read again, and SIGUSR1, by
// which whoever rotates logs says that it has. Thread-safe.
class SignalWaiter {
 public:
  SignalWaiter();
  ~SignalWaiter();

  // How many times the daemon was asked to end: once, to drain; twice, to hurry.
  int requests() const;

  // Called on the signals' thread for each SIGUSR1: the log is to be opened anew. Null: nothing is.
  void OnReopen(std::function<void()> reopen) const;
  // How many times it was asked, by SIGHUP, to read its config again.
  int hangups() const;

  // Waits until it is asked to end, or there are other than `seen` hangups.
  void WaitForNews(int seen) const;

  // Waits until that many requests have come, at most for `limit`. True when they have.
  bool WaitFor(int requests, absl::Duration limit) const;

 private:
  void Main();

  sigset_t signals_;
  mutable absl::Mutex mu_;
  int requests_ ABSL_GUARDED_BY(mu_) = 0;
  int hangups_ ABSL_GUARDED_BY(mu_) = 0;
  bool done_ ABSL_GUARDED_BY(mu_) = false;

  mutable absl::Mutex reopen_mu_;  // held during the call, so that none goes on after OnReopen()
  mutable std::function<void()> reopen_ ABSL_GUARDED_BY(reopen_mu_);

  std::thread thread_;
};

}  // namespace mpsd
