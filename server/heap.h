// Heap: this process's allocator, as the system sees it.
#pragma once

#include <cstdint>

namespace mpsd {

// Resident memory that no file and no other process shares: the heap and the threads' stacks. Reads
// /proc once; 0 if the system does not tell. Thread-safe.
uint64_t ResidentHeapBytes();

// Has the process's threads share a few parts of the heap: one for each usable core, at most
// kMostHeapParts. The system's default is eight for each core, which scatters what many threads
// have freed. Freed memory then stays until TrimHeap(): otherwise a large message's pages would be
// zeroed anew for the next one. Called once, before other threads allocate.
inline constexpr uint32_t kMostHeapParts = 16;  // no more threads carry requests
void ShareHeap();

// Returns freed memory to the system. Takes some milliseconds for a hundred megabytes, during which
// other threads' allocations wait. Starts up to two threads for each part, which end before it
// returns. If the system refuses one, a part may keep its free end. Thread-safe.
void TrimHeap();

}  // namespace mpsd
