#include "tests/fakes/heap_count.h"

#include <atomic>
#include <cstdlib>
#include <new>

#include "proto/base/check.h"

namespace mpsd {
namespace {

std::atomic<bool> counting{false};
std::atomic<int> counted{0};

void Count() {
  if (counting.load(std::memory_order_relaxed)) counted.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

HeapCount::HeapCount(int* allocations) : allocations_(allocations) {
  MPSD_CHECK(!counting.load());
  counted = 0;
  counting = true;
}

HeapCount::~HeapCount() {
  counting = false;
  *allocations_ += counted;
}

void* HeapCount::Allocate(std::size_t bytes) {
  Count();
  return std::malloc(bytes == 0 ? 1 : bytes);
}

void* HeapCount::Reallocate(void* memory, std::size_t bytes) {
  Count();
  return std::realloc(memory, bytes);
}

}  // namespace mpsd

namespace {

void* AllocateOrAbort(std::size_t bytes) {
  void* memory = mpsd::HeapCount::Allocate(bytes);
  if (memory == nullptr) std::abort();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) { return AllocateOrAbort(bytes); }
void* operator new[](std::size_t bytes) { return AllocateOrAbort(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
