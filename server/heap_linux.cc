#include <malloc.h>

#include <algorithm>
#include <cstdio>

#include "proto/base/platform.h"
#include "server/heap.h"

namespace mpsd {
namespace {

// As much as the library takes: a larger block has pages of its own, which go back when it is
// freed.
constexpr int kOwnPagesBytes = 32 << 20;
constexpr int kKeptBytes = 2 * kOwnPagesBytes;

}  // namespace

uint64_t ResidentHeapBytes() {
  std::FILE* const file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  unsigned long long resident = 0;
  unsigned long long shared = 0;
  const int fields = std::fscanf(file, "%*u %llu %llu", &resident, &shared);
  std::fclose(file);
  return fields == 2 && resident > shared ? (resident - shared) * platform::PageBytes() : 0;
}

void ShareHeap() {
  mallopt(M_ARENA_MAX, static_cast<int>(std::min(platform::UsableCores(), kMostHeapParts)));
  mallopt(M_MMAP_THRESHOLD, kOwnPagesBytes);
  mallopt(M_TRIM_THRESHOLD, kKeptBytes);
}

void TrimHeap() { malloc_trim(0); }

}  // namespace mpsd
