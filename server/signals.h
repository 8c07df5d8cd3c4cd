// SignalWaiter: turns signals into state that threads can wait for.
//
// Almost nothing may be done in a signal handler, so there is none: the signals are blocked in
// every thread, and one thread takes them with sigwait() and counts. Other threads look at the
// counts.
//
//   SIGTERM, SIGINT   requests()   1: drain; 2: hurry; more change nothing
//   SIGHUP            hangups()    a reload, one for all that came since main looked
//   SIGUSR1           the function of OnReopen(), on the signals' thread: main may be in a drain
//   SIGPIPE           ignored: a client that is gone is an error of a write
//   SIGXFSZ           ignored: so is a file that has reached the process's limit
//
// Workers do not inherit the blocked signals: the spawn resets them.
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
// every thread inherits the blocked signals; a signal that comes while the config is read is kept.
// One in a process. Its methods are const: to wait for a signal does not change the waiter.
// Thread-safe.
class SignalWaiter {
 public:
  // Blocks the signals in the calling thread and in all that it starts from now on.
  SignalWaiter();
  // Joins the thread. The signals stay blocked.
  ~SignalWaiter();

  // How many times the daemon was asked to end. The first time it drains, the second time it
  // hurries.
  int requests() const;

  // `reopen` is called on the signals' thread for each SIGUSR1. Null: nothing is called. After the
  // return the function before is not called any more; blocks while it runs.
  void OnReopen(std::function<void()> reopen) const;

  // How many times SIGHUP asked to read the config again.
  int hangups() const;

  // Blocks until the daemon is asked to end, or hangups() is not `seen`, at most for `limit`.
  // Returns at once where that is so already: no signal is missed between two calls.
  void WaitForNews(int seen, absl::Duration limit) const;

  // Blocks until the daemon was asked to end that many times, at most for `limit`. True when it
  // was.
  bool WaitFor(int requests, absl::Duration limit) const;

 private:
  void Main();

  sigset_t signals_;  // with SIGUSR2, by which the destructor wakes the thread
  mutable absl::Mutex mu_;
  int requests_ ABSL_GUARDED_BY(mu_) = 0;
  int hangups_ ABSL_GUARDED_BY(mu_) = 0;
  bool done_ ABSL_GUARDED_BY(mu_) = false;

  mutable absl::Mutex reopen_mu_;  // held during the call
  mutable std::function<void()> reopen_ ABSL_GUARDED_BY(reopen_mu_);

  std::thread thread_;
};

}  // namespace mpsd
