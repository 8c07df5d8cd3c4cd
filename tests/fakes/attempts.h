// Attempts: what a malicious model would try. Each attempt is harmless when it succeeds, so that a
// test can see it succeed without a sandbox.
#pragma once

#include <vector>

namespace mpsd {

enum class Reach {
  kEverybody,  // a model may do this, with or without a sandbox
  kBasic,      // strict denies it
  kNobody,     // every sandbox denies it
};

struct Attempt {
  const char* name;
  Reach reach;
  bool takes_privileges;  // may be denied without a sandbox too
  // 0 when the kernel did it, or at least looked at the arguments; otherwise EPERM, EACCES or
  // ENOSYS.
  int (*run)();
};

// Every attempt. Thread-safe, as are the attempts. Attempts on other processes are aimed at the
// parent, those on files at the folder above TMPDIR.
const std::vector<Attempt>& Attempts();

}  // namespace mpsd
