// CacheBound: which entry of a thread's cache of graphs or kernels leaves for a new one.
//
// patch_libtorch.py copies this file into libtorch: C++17 and the standard library alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace mpsd {

// Each entry has a Use as its member `mpsd_use`. The cache calls MakeRoom() before it adds an
// entry. Only the cache's own thread calls these functions.
struct CacheBound {
  static constexpr size_t kMostEntries = 512;

  struct Use {
    uint64_t last = Now();
    void Again() { last = Now(); }
  };

  // If the map is full, the least recently used entry leaves, after `drop` has ended what it points
  // to.
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
  static uint64_t Now() {
    static thread_local uint64_t uses = 0;
    return ++uses;
  }
};

}  // namespace mpsd
