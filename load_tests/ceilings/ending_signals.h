// EndingSignals: the signals that end a program which serves until it is told to stop.
#pragma once

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

namespace mpsd::load {

// Blocks these signals in every thread that starts later, and awaits the first of them. SIGALRM
// comes after `lifetime_s`, so that a forgotten program ends by itself. Lives on the main thread,
// and is made before any other thread.
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
