// StopSignals: keeps Ctrl-C from ending a program that has something to put away first.
#pragma once

#include <csignal>

namespace mpsd::tune {

// As long as it lives SIGINT and SIGTERM wait, in this thread and in those that it starts from now
// on; a program that is spawned gets them as ever. The destructor lets them through: a signal that
// has come meanwhile takes effect then, as if it had come at this moment. Made before other threads
// are. Thread-compatible.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // Whether one has come.
  bool Pending() const;

 private:
  sigset_t before_;
};

}  // namespace mpsd::tune
