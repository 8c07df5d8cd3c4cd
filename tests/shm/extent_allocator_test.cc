#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>

#include "proto/shm/segment.h"

namespace mpsd {
namespace {

constexpr uint64_t kFirst = 256;
constexpr uint64_t kBytes = 64 * 64;
constexpr uint64_t kAlignment = 64;

// True when so much, and no more, can be had of a copy of the allocator.
bool LargestHoleIs(ExtentAllocator extents, uint64_t bytes) {
  if (extents.Allocate(bytes + 1).has_value()) return false;
  return bytes == 0 || extents.Allocate(bytes).has_value();
}

TEST(ExtentAllocator, GivesTheLowestBytesFirst) {
  ExtentAllocator extents(kFirst, kBytes, kAlignment);
  EXPECT_EQ(extents.Allocate(64), kFirst);
  EXPECT_EQ(extents.Allocate(100), kFirst + 64);
  EXPECT_EQ(extents.Allocate(1), kFirst + 192);
  EXPECT_EQ(extents.used_bytes(), 256u);
}

TEST(ExtentAllocator, FillsTheFirstHoleThatHolds) {
  ExtentAllocator extents(kFirst, kBytes, kAlignment);
  const uint64_t small = *extents.Allocate(64);
  extents.Allocate(64);
  const uint64_t large = *extents.Allocate(192);
  extents.Allocate(64);
  extents.Free(small, 64);
  extents.Free(large, 192);
  EXPECT_EQ(extents.Allocate(128), large);
  EXPECT_EQ(extents.Allocate(64), small);
  EXPECT_EQ(extents.Allocate(64), large + 128);
}

TEST(ExtentAllocator, GivesAllItHasAndThenNothing) {
  ExtentAllocator extents(kFirst, kBytes, kAlignment);
  EXPECT_EQ(extents.Allocate(kBytes), kFirst);
  EXPECT_EQ(extents.used_bytes(), kBytes);
  EXPECT_TRUE(LargestHoleIs(extents, 0));
  EXPECT_EQ(extents.Allocate(1), std::nullopt);
  extents.Free(kFirst, kBytes);
  EXPECT_EQ(extents.Allocate(kBytes), kFirst);
}

TEST(ExtentAllocator, RefusesWhatIsLargerThanTheLargestHole) {
  ExtentAllocator extents(kFirst, kBytes, kAlignment);
  EXPECT_EQ(extents.Allocate(kBytes + 1), std::nullopt);
  EXPECT_EQ(extents.Allocate(UINT64_MAX), std::nullopt);
  EXPECT_EQ(extents.Allocate(UINT64_MAX - 64), std::nullopt);
  EXPECT_EQ(extents.used_bytes(), 0u);
}

TEST(ExtentAllocator, GivesAnExtentOfNoBytesAPlaceOfItsOwn) {
  ExtentAllocator extents(kFirst, kBytes, kAlignment);
  const uint64_t first = *extents.Allocate(0);
  const uint64_t second = *extents.Allocate(0);
  EXPECT_NE(first, second);
  extents.Free(first, 0);
  extents.Free(second, 0);
  EXPECT_TRUE(LargestHoleIs(extents, kBytes));
}

TEST(ExtentAllocator, LeavesOutWhatIsNoWholeExtent) {
  ExtentAllocator extents(kFirst, 200, kAlignment);
  EXPECT_TRUE(LargestHoleIs(extents, 192));
  ExtentAllocator none(kFirst, 63, kAlignment);
  EXPECT_EQ(none.Allocate(1), std::nullopt);
}

TEST(ExtentAllocator, MakesOneHoleOfNeighbours) {
  for (const auto& order : {std::array{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {2, 1, 0}}) {
    ExtentAllocator extents(kFirst, 3 * 64, kAlignment);
    uint64_t places[3];
    for (uint64_t& place : places) place = *extents.Allocate(64);
    for (const int i : order) extents.Free(places[i], 64);
    EXPECT_TRUE(LargestHoleIs(extents, 3 * 64));
  }
}

// ---- false beliefs of the owner ----

TEST(ExtentAllocatorDeathTest, EndsAtADoubleFree) {
  ExtentAllocator extents(kFirst, kBytes, kAlignment);
  const uint64_t first = *extents.Allocate(64);
  const uint64_t second = *extents.Allocate(64);
  extents.Allocate(64);
  extents.Free(second, 64);
  EXPECT_DEATH(extents.Free(second, 64), "check failed");
  extents.Free(first, 64);
  EXPECT_DEATH(extents.Free(second, 64), "check failed");
  EXPECT_DEATH(extents.Free(first, 64), "check failed");
}

TEST(ExtentAllocatorDeathTest, EndsWhenMoreIsFreedThanWasAllocated) {
  ExtentAllocator extents(kFirst, kBytes, kAlignment);
  const uint64_t place = *extents.Allocate(64);
  EXPECT_DEATH(extents.Free(place, 128), "check failed");
  EXPECT_DEATH(ExtentAllocator(1, kBytes, kAlignment), "check failed");
}

TEST(ExtentAllocatorDeathTest, EndsWhenAnExtentReachesIntoAHole) {
  ExtentAllocator extents(kFirst, kBytes, kAlignment);
  const uint64_t first = *extents.Allocate(64);
  const uint64_t second = *extents.Allocate(64);
  extents.Allocate(64);
  extents.Free(second, 64);
  EXPECT_DEATH(extents.Free(first, 128), "check failed");
}

// ---- any order of calls ----

// The allocator beside a model of it that is slow and plain: the extents in use, by offset.
class ExtentState {
 public:
  explicit ExtentState(uint64_t seed) : random_(seed) {}

  void Step() {
    if (random_() % 100 < allocate_percent_) {
      Allocate();
    } else {
      Free();
    }
    if (random_() % 500 == 0) allocate_percent_ = random_() % 60 + 20;
  }

  void FreeAll() {
    while (!in_use_.empty()) Free();
  }

  void CheckInvariants() const {
    uint64_t used_bytes = 0;
    uint64_t end = kFirst;
    for (const auto& [offset, bytes] : in_use_) {
      ASSERT_GE(offset, end) << "extents overlap";
      ASSERT_EQ(offset % kAlignment, 0u);
      end = offset + Rounded(bytes);
      used_bytes += Rounded(bytes);
    }
    ASSERT_LE(end, kFirst + kBytes);
    ASSERT_EQ(extents_.used_bytes(), used_bytes);
    // A hole that lay in two pieces would be larger here.
    ASSERT_TRUE(LargestHoleIs(extents_, LargestHole()));
  }

  const ExtentAllocator& extents() const { return extents_; }

 private:
  static uint64_t Rounded(uint64_t bytes) {
    return (std::max<uint64_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  }

  // Calls `visit` with each hole between the extents in use, from the low end.
  template <typename Visit>
  void ForEachHole(Visit visit) const {
    uint64_t end = kFirst;
    for (const auto& [offset, bytes] : in_use_) {
      if (offset > end) visit(end, offset - end);
      end = offset + Rounded(bytes);
    }
    if (end < kFirst + kBytes) visit(end, kFirst + kBytes - end);
  }

  uint64_t LargestHole() const {
    uint64_t largest = 0;
    ForEachHole([&](uint64_t, uint64_t bytes) { largest = std::max(largest, bytes); });
    return largest;
  }

  void Allocate() {
    const uint64_t bytes = random_() % (random_() % 8 == 0 ? 1200 : 300);
    std::optional<uint64_t> expected;
    ForEachHole([&](uint64_t offset, uint64_t hole_bytes) {
      if (!expected.has_value() && hole_bytes >= Rounded(bytes)) expected = offset;
    });
    const std::optional<uint64_t> offset = extents_.Allocate(bytes);
    ASSERT_EQ(offset, expected) << "not the first fit";
    if (offset.has_value()) in_use_[*offset] = bytes;
  }

  void Free() {
    if (in_use_.empty()) return;
    const auto extent = std::next(in_use_.begin(), static_cast<long>(random_() % in_use_.size()));
    extents_.Free(extent->first, extent->second);
    in_use_.erase(extent);
  }

  std::mt19937_64 random_;
  uint64_t allocate_percent_ = 50;
  ExtentAllocator extents_{kFirst, kBytes, kAlignment};
  std::map<uint64_t, uint64_t> in_use_;
};

TEST(ExtentAllocator, KeepsItsInvariantsInAnyOrderOfCalls) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    ExtentState state(seed);
    for (int step = 0; step < 3000; ++step) {
      ASSERT_NO_FATAL_FAILURE(state.Step());
      ASSERT_NO_FATAL_FAILURE(state.CheckInvariants());
    }
    state.FreeAll();
    EXPECT_EQ(state.extents().used_bytes(), 0u);
    EXPECT_TRUE(LargestHoleIs(state.extents(), kBytes));
  }
}

}  // namespace
}  // namespace mpsd
