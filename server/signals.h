// SignalWaiter: turns signals into state that threads can wait for.
//
//   SIGTERM, SIGINT   requests()   1: drain; 2: hurry; more change nothing
//   SIGHUP            news()       a reload, one for all that came since main looked
//   SIGUSR2           news()       a handover to a new daemon, likewise
//   SIGUSR1           the function of OnReopen(), on the signals' thread: main may be in a drain
//   SIGPIPE           ignored: a client that is gone is an error of a write
//   SIGXFSZ           ignored: so is a file that has reached the process's limit
#pragma once

#include <csignal>
#include <functional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace mpsd {

// Signal handlers may do almost nothing, so the signals are blocked in every thread, and one thread
// takes them. Made by main before any other thread, so that all inherit that; a spawn resets it for
// workers. One in a process. Methods are const, since waiting does not change it. Thread-safe.
class SignalWaiter {
 public:
  // In the calling thread and all that it starts later.
  SignalWaiter();
  // The signals stay blocked.
  ~SignalWaiter();

  // Once to drain, twice to hurry.
  int requests() const;

  // For SIGUSR1, on the signals' thread; null: none. Blocks while the previous function runs, which
  // is not called afterwards.
  void OnReopen(std::function<void()> reopen) const;

  // Wishes to reload by SIGHUP, and to hand over by SIGUSR2.
  struct News {
    int hangups = 0;
    int handovers = 0;
    bool operator==(const News&) const = default;
  };
  News news() const;

  // Blocks until the daemon is asked to end or news() differs from `seen`, at most for `limit`.
  // That may be so already, so no signal is missed between two calls.
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
