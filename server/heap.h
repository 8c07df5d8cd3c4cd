// Heap: this process's allocator.
#pragma once

#include <cstdint>

namespace mpsd {

// Resident memory of the heap and the threads' stacks. Reads /proc once; 0 if the system does not
// tell. Thread-safe.
uint64_t ResidentHeapBytes();

// Has the threads share one part of the heap for each usable core, at most kMostHeapParts. The
// system's eight for each core scatter what many threads have freed. Freed memory then stays until
// TrimHeap(), so that no large message zeroes its pages anew. Called once, before other threads
// allocate.
inline constexpr uint32_t kMostHeapParts = 16;  // no more threads carry requests
void ShareHeap();

// Other threads' allocations wait meanwhile, some milliseconds for a hundred megabytes. Starts up
// to two threads for each part; if the system refuses one, a part may keep its free end.
// Thread-safe.
void TrimHeap();

}  // namespace mpsd
