// HeapCount: how often memory is allocated on the heap.
#pragma once

#include <cstddef>

namespace mpsd {

// Counts, on all threads, while it lives, and adds the count to the caller's number at its end.
// Counts every operator new of a process that heap_count.cc is linked into, and every call of the
// functions below. One at a time. Thread-compatible.
class HeapCount {
 public:
  explicit HeapCount(int* allocations);
  ~HeapCount();
  HeapCount(const HeapCount&) = delete;
  HeapCount& operator=(const HeapCount&) = delete;

  // Counted malloc() and realloc(), for a library that lets its own be replaced. Thread-safe.
  static void* Allocate(std::size_t bytes);
  static void* Reallocate(void* memory, std::size_t bytes);

 private:
  int* const allocations_;
};

}  // namespace mpsd
