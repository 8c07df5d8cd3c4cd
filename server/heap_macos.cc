#include <malloc/malloc.h>
#include <unistd.h>

#include "proto/base/platform.h"
#include "server/heap.h"

namespace mpsd {

uint64_t ResidentHeapBytes() { return platform::ResidentMemoryBytes(getpid()); }

void ShareHeap() {}  // the system's allocator has no such parts

void TrimHeap() { malloc_zone_pressure_relief(nullptr, 0); }

}  // namespace mpsd
