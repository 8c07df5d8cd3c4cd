// Attempts: what a model that means harm would try. Each is harmless where it succeeds, so that a
// test can see it succeed without a sandbox.
#pragma once

#include <vector>

namespace mpsd {

enum class Reach {
  kEverybody,  // a model may do this, sandbox or not
  kBasic,      // strict denies it
  kNobody,     // every sandbox denies it
};

struct Attempt {
  const char* name;
  Reach reach;
  bool takes_privileges;  // without a sandbox too, or depends on how the host is set up
  // 0 when the kernel went along, or looked at the arguments at least; else EPERM, EACCES, ENOSYS.
  int (*run)();
};

// Thread-safe, as are the attempts. Others are aimed at the parent process, files at the folder
// above TMPDIR.
const std::vector<Attempt>& Attempts();

}  // namespace mpsd
