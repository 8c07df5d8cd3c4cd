// SignalWaiter: turns signals into state that threads can wait for.
//
// Signal handlers may do almost nothing, so there is none: the signals are blocked in every thread,
// and one thread takes them with sigwait() and counts. Other threads look at the counts.
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

// Its own thread takes SIGTERM and SIGINT (end), SIGHUP (read the config again), SIGUSR1 (open the
// rotated log again) and SIGUSR2 (hand over to a new daemon). Made and owned by main, before any
// other thread, so that every thread inherits the blocked signals and no signal is lost while the
// config is read. One in a process. Its methods are const, since waiting does not change it.
// Thread-safe.
class SignalWaiter {
 public:
  // Blocks the signals in the calling thread and in all that it starts later.
  SignalWaiter();
  // Joins the thread. The signals stay blocked.
  ~SignalWaiter();

  // How often the daemon was asked to end: once to drain, twice to hurry.
  int requests() const;

  // Sets the function for SIGUSR1, called on the signals' thread; null: none. After the return the
  // previous function is not called any more; blocks while it runs.
  void OnReopen(std::function<void()> reopen) const;

  // How often SIGHUP asked to read the config again, and SIGUSR2 to hand over.
  struct News {
    int hangups = 0;
    int handovers = 0;
    bool operator==(const News&) const = default;
  };
  News news() const;

  // Blocks until the daemon is asked to end, or news() differs from `seen`, at most for `limit`.
  // Returns at once if that is so already, so that no signal is missed between two calls.
  void WaitForNews(News seen, absl::Duration limit) const;

  // Blocks until the daemon was asked to end that often, at most for `limit`. Returns whether it
  // was.
  bool WaitFor(int requests, absl::Duration limit) const;

 private:
  void Main();

  sigset_t signals_;
  mutable absl::Mutex mu_;
  int requests_ ABSL_GUARDED_BY(mu_) = 0;
  News news_ ABSL_GUARDED_BY(mu_);
  bool done_ ABSL_GUARDED_BY(mu_) = false;

  mutable absl::Mutex reopen_mu_;  // held during the call
  mutable std::function<void()> reopen_ ABSL_GUARDED_BY(reopen_mu_);

  std::thread thread_;
};

}  // namespace mpsd
