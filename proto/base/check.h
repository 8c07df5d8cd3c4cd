// MPSD_CHECK: ends the process if an assumption about our own code is false, also in releases.
//
//   MPSD_CHECK(slot < kMaxSlots);
//
// A process that has lost track of its own state must not touch shared memory again. The supervisor
// replaces a worker, a service manager the daemon.
//
// Never for input from outside: a client's bytes, a config, a file, errno, and every byte of
// another process are checked with `if` and become a Status.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace mpsd {

// Called by the macro alone. Allocates nothing and takes only stderr's lock.
[[noreturn]] inline void CheckFailed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: check failed: %s\n", file, line, condition);
  std::abort();
}

}  // namespace mpsd

// Evaluates `condition` once, in every build.
#define MPSD_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::mpsd::CheckFailed(#condition, __FILE__, __LINE__))
