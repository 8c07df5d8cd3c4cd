// Heap: the allocator of this process, as the system sees it.
#pragma once

#include <cstdint>

namespace mpsd {

// Resident memory that no file and no other process shares: the heap and the threads' stacks. One
// look into /proc; 0 where the system does not tell. Thread-safe.
uint64_t ResidentHeapBytes();

// Has the process's threads share a few parts of the heap: one for each core that it may use, and
// at most kMostHeapParts. The system's default is eight for each core, and what many threads have
// freed lies in many parts. What is freed then stays until TrimHeap(): given back at once, the
// pages of a large message would be zeroed anew for the next one. Called once, before other threads
// allocate.
inline constexpr uint32_t kMostHeapParts = 16;  // no more threads carry requests
void ShareHeap();

// Gives memory that was freed back to the system. Takes some milliseconds for a hundred megabytes,
// and other threads' allocations wait meanwhile. Starts up to two threads for each part, which end
// before it returns; where the system refuses one, a part may keep its free end. Thread-safe.
void TrimHeap();

}  // namespace mpsd
