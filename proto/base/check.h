// CHECK: a false belief of our own ends the process, in release builds too.
// (Abseil has one only since 2023; Debian 12 carries 2022.)
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
