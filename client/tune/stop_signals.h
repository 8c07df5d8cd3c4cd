// StopSignals: keeps Ctrl-C from ending a program that must clean up first.
#pragma once

#include <csignal>

namespace mpsd::tune {

// While it lives, SIGINT and SIGTERM wait, in this thread and in threads that it starts later, and
// take effect in the destructor. Spawned programs get them. Made before other threads.
// Thread-compatible.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  bool Pending() const;

 private:
  sigset_t before_;
};

}  // namespace mpsd::tune
