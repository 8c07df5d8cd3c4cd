// MPSD_CHECK: ends the process, in release builds too, when one of our own beliefs is false.
// (Abseil has such a macro only since 2023; Debian 12 ships 2022.)
#pragma once

#include <cstdio>
#include <cstdlib>

namespace mpsd {

[[noreturn]] inline void CheckFailed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: check failed: %s\n", file, line, condition);
  std::abort();
}

}  // namespace mpsd

#define MPSD_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::mpsd::CheckFailed(#condition, __FILE__, __LINE__))
