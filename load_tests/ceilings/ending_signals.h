// EndingSignals: the signals that end a server of the load tests.
#pragma once

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

namespace mpsd::load {

// Blocks the signals in later threads. SIGALRM comes after `lifetime_s`, so that a forgotten
// program ends. Lives on the main thread, and is made before any other thread.
class EndingSignals {
 public:
  explicit EndingSignals(unsigned lifetime_s) {
    sigemptyset(&signals_);
    for (const int signal : {SIGTERM, SIGINT, SIGALRM}) sigaddset(&signals_, signal);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    alarm(lifetime_s);
  }

  void Await() const {
    int signal = 0;
    sigwait(&signals_, &signal);
  }

 private:
  sigset_t signals_;
};

}  // namespace mpsd::load
