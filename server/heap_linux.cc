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

// As much as the library takes: a larger block has pages of its own, which go back when it is
// freed.
constexpr int kOwnPagesBytes = 32 << 20;
constexpr int kKeptBytes = 2 * kOwnPagesBytes;
// When a block of this size is freed, the part of the heap that it lies in looks at its free end.
constexpr size_t kLooksAtEndBytes = 128 << 10;

uint32_t HeapParts() { return std::min(platform::UsableCores(), kMostHeapParts); }

// Takes a block of the part that the library has this thread use, and frees it once all do so.
void TouchPart(const absl::Notification& all_started) {
  void* volatile block = std::malloc(kLooksAtEndBytes);
  all_started.WaitForNotification();
  std::free(block);
}

// Has each part give its free end back. No function of the library does so for another part than
// the first. A thread that begins gets a part that no living thread has, or a new one, as long as
// there are some; those after them get all parts by turns.
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
