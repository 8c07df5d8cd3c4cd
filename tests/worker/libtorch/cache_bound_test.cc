#include "worker/libtorch/cache_bound.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace mpsd {
namespace {

struct Entry {
  int number = 0;
  CacheBound::Use mpsd_use;
};

// A cache as libtorch's are with the edit: a look-up uses an entry, a missing one is added.
class Cache {
 public:
  void Ask(int number) {
    const auto found = entries_.find(number);
    if (found != entries_.end()) return found->second.mpsd_use.Again();
    CacheBound::MakeRoom(entries_, [&](const Entry& oldest) { left.push_back(oldest.number); });
    entries_.emplace(number, Entry{number, {}});
  }
  size_t size() const { return entries_.size(); }

  std::vector<int> left;  // the entries that left, in order

 private:
  std::map<int, Entry> entries_;
};

constexpr int kMost = static_cast<int>(CacheBound::kMostEntries);

TEST(CacheBoundTest, NothingLeavesWhileThereIsRoom) {
  Cache cache;
  for (int i = 0; i < kMost; ++i) cache.Ask(i);
  EXPECT_TRUE(cache.left.empty());
  EXPECT_EQ(cache.size(), CacheBound::kMostEntries);
}

TEST(CacheBoundTest, TheLeastRecentlyUsedLeavesForANewOne) {
  Cache cache;
  for (int i = 0; i < kMost; ++i) cache.Ask(i);
  cache.Ask(0);
  cache.Ask(kMost);
  cache.Ask(kMost + 1);
  EXPECT_EQ(cache.left, (std::vector<int>{1, 2}));
  EXPECT_EQ(cache.size(), CacheBound::kMostEntries);
}

}  // namespace
}  // namespace mpsd
