// CacheBound: which entry of a thread's cache of graphs or kernels leaves for a new one.
//
// patch_libtorch.py copies this file into libtorch, where MPSGraphCache and MPSKernelCache use it.
// So it includes only the standard library and is C++17.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace mpsd {

// Each entry of a cache has a Use as its member `mpsd_use`. The cache calls MakeRoom() before it
// adds an entry. Only the thread that owns the cache may call these functions.
struct CacheBound {
  static constexpr size_t kMostEntries = 512;

  // When an entry was used last. A new entry counts as used.
  struct Use {
    uint64_t last = Now();
    void Again() { last = Now(); }
  };

  // If the map is full, the entry that was used least recently leaves. Before, `drop` gets the
  // entry, and ends what it points to.
  template <typename Map, typename Drop>
  static void MakeRoom(Map& entries, const Drop& drop) {
    if (entries.size() < kMostEntries) return;
    const auto oldest =
        std::min_element(entries.begin(), entries.end(), [](const auto& left, const auto& right) {
          return left.second.mpsd_use.last < right.second.mpsd_use.last;
        });
    drop(oldest->second);
    entries.erase(oldest);
  }

 private:
  // Counts the uses of the calling thread's caches.
  static uint64_t Now() {
    static thread_local uint64_t uses = 0;
    return ++uses;
  }
};

}  // namespace mpsd
