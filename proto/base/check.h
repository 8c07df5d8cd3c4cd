// MPSD_CHECK: ends the process, in release builds too, when one of our own beliefs is false.
// (Abseil has such a macro only since 2023; Debian 12 ships 2022.)
//
//   MPSD_CHECK(slot < kMaxSlots);
//
// For what only a bug of this repository can make false: an index that this code computed, a state
// that it set, a REQUIRES of a header. A process that has lost track of its own state must not go
// on to touch memory that it shares; the supervisor replaces a worker, a service manager the
// daemon.
//
// Never for what comes from outside. A client's bytes, a config, a file, a descriptor's errno, and
// every byte that another process wrote are checked with `if` and become a Status.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace mpsd {

// Writes one line to stderr and aborts. Allocates nothing, and takes no lock but stderr's, so it
// also works where memory has run out. For the macro alone.
[[noreturn]] inline void CheckFailed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: check failed: %s\n", file, line, condition);
  std::abort();
}

}  // namespace mpsd

// An expression of type void. `condition` is evaluated once, in every build, and costs one branch.
#define MPSD_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::mpsd::CheckFailed(#condition, __FILE__, __LINE__))
