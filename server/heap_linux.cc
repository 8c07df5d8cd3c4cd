#include <malloc.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "absl/synchronization/notification.h"
#include "proto/base/platform.h"
#include "server/heap.h"
#include "server/threads_together.h"

namespace mpsd {
namespace {

// The library's maximum: a larger block has its own pages, returned when it is freed.
constexpr int kOwnPagesBytes = 32 << 20;
constexpr int kKeptBytes = 2 * kOwnPagesBytes;
// Freeing such a block makes a part check its free end.
constexpr size_t kLooksAtEndBytes = 128 << 10;

uint32_t HeapParts() { return std::min(platform::UsableCores(), kMostHeapParts); }

// Uses this thread's part, once all threads do so.
void TouchPart(const absl::Notification& all_started) {
  void* volatile block = std::malloc(kLooksAtEndBytes);
  all_started.WaitForNotification();
  std::free(block);
}

// The library returns only the first part's free end. A new thread gets a part that no living
// thread has, while there are some; later ones get all parts in turn.
void TrimEnds() {
  mallopt(M_TRIM_THRESHOLD, 0);
  RunTogether(2 * HeapParts(), TouchPart);
  mallopt(M_TRIM_THRESHOLD, kKeptBytes);
}

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
  mallopt(M_ARENA_MAX, static_cast<int>(HeapParts()));
  mallopt(M_MMAP_THRESHOLD, kOwnPagesBytes);
  mallopt(M_TRIM_THRESHOLD, kKeptBytes);
}

void TrimHeap() {
  malloc_trim(0);
  TrimEnds();
}

}  // namespace mpsd
