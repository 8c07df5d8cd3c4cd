// LoadHook: calls back before each load that instrumented code makes from a range of memory.
//
// The watched code is compiled with -fsanitize=thread, which puts a call before each of its
// accesses. It is linked without that sanitizer's runtime: load_hook.cc takes the calls instead. So
// memory can change between any two loads of the code under test, at the same place in every run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace mpsd {

// One exists at a time. Lives on one thread, and that thread's loads are the ones that it sees.
class LoadHook {
 public:
  LoadHook(const void* first, size_t bytes, std::function<void()> before_load);
  ~LoadHook();
  LoadHook(const LoadHook&) = delete;
  LoadHook& operator=(const LoadHook&) = delete;

  // Instrumented code is about to load from there.
  static void Load(const volatile void* address);

  uint64_t loads() const { return loads_; }

 private:
  const uintptr_t first_;
  const size_t bytes_;
  const std::function<void()> before_load_;
  uint64_t loads_ = 0;
  bool inside_ = false;
};

}  // namespace mpsd
