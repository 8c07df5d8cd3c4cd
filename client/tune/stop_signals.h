// StopSignals: keeps Ctrl-C from ending a program that must clean up first.
#pragma once

#include <csignal>

namespace mpsd::tune {

// While this object lives, SIGINT and SIGTERM wait, in this thread and in threads that it starts
// later. A spawned program gets them as ever. A signal that came meanwhile takes effect in the
// destructor. Must be made before other threads are. Thread-compatible.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // Whether a signal has come.
  bool Pending() const;

 private:
  sigset_t before_;
};

}  // namespace mpsd::tune
