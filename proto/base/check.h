// MPSD_CHECK: ends the process if an assumption about our own code is false, also in releases.
// (Abseil has such a macro only since 2023; Debian 12 ships 2022.)
//
//   MPSD_CHECK(slot < kMaxSlots);
//
// For conditions that only a bug of this repository can make false: an index that this code
// computed, a state that it set, a REQUIRES of a header. A process that has lost track of its own
// state must not touch shared memory again. The supervisor replaces a worker, a service manager the
// daemon.
//
// Never for input from outside. A client's bytes, a config, a file, a descriptor's errno, and every
// byte that another process wrote are checked with `if` and become a Status.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace mpsd {

// Writes one line to stderr and aborts. Allocates nothing and takes only stderr's lock, so it works
// without free memory. Called by the macro alone.
[[noreturn]] inline void CheckFailed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: check failed: %s\n", file, line, condition);
  std::abort();
}

}  // namespace mpsd

// An expression of type void. `condition` is evaluated once, in every build, and costs one branch.
#define MPSD_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::mpsd::CheckFailed(#condition, __FILE__, __LINE__))
