// HeapCount: how often memory is taken from the heap.
#pragma once

#include <cstddef>

namespace mpsd {

// Counts as long as it lives, on all threads, and then adds what it has counted to the caller's
// number: every operator new of a process that heap_count.cc is linked into, and what comes to the
// functions below. One at a time. Thread-compatible.
class HeapCount {
 public:
  explicit HeapCount(int* allocations);
  ~HeapCount();
  HeapCount(const HeapCount&) = delete;
  HeapCount& operator=(const HeapCount&) = delete;

  // malloc() and realloc(), counted, for a library that lets its own be replaced. Thread-safe.
  static void* Allocate(std::size_t bytes);
  static void* Reallocate(void* memory, std::size_t bytes);

 private:
  int* const allocations_;
};

}  // namespace mpsd
