#include "proto/shm/doorbell.h"

#include <gtest/gtest.h>

#include <thread>

namespace mpsd {
namespace {

constexpr int64_t kLongNs = 60LL * 1'000'000'000;  // never reached by a test that passes

class Doorbell : public testing::Test {
 protected:
  SharedWord sequence_{0};
  SharedWord parked_{0};
  LaneBell bell_{&sequence_, &parked_};
  LaneSleep sleep_{&sequence_, &parked_};
};

TEST_F(Doorbell, LeavesALaneAloneThatIsAwake) {
  EXPECT_FALSE(bell_.Ring());
  EXPECT_EQ(sequence_.load(), 0u);
}

TEST_F(Doorbell, OwesAWakeToALaneThatIsParked) {
  parked_.store(1);
  EXPECT_TRUE(bell_.Ring());
  EXPECT_EQ(sequence_.load(), 1u);
  EXPECT_TRUE(bell_.Ring());
  EXPECT_EQ(sequence_.load(), 2u);
}

// The flag stands before the last look at the ring, or an entry published in between is missed.
TEST_F(Doorbell, SaysParkedBeforeItLooksForTheLastTime) {
  uint32_t seen = 0;
  EXPECT_TRUE(sleep_.Sleep(
      [&] {
        seen = parked_.load();
        return true;
      },
      kLongNs));
  EXPECT_EQ(seen, 1u);
  EXPECT_EQ(parked_.load(), 0u);
}

TEST_F(Doorbell, DoesNotSleepWhenThereIsWork) {
  EXPECT_TRUE(sleep_.Sleep([] { return true; }, kLongNs));
}

// A ring that comes between the last look and the wait ends the wait before it begins.
TEST_F(Doorbell, DoesNotSleepThroughARingAfterTheLastLook) {
  const auto ring_late = [&] {
    EXPECT_TRUE(bell_.Ring());
    return false;
  };
  EXPECT_TRUE(sleep_.Sleep(ring_late, kLongNs));
  EXPECT_TRUE(sleep_.Sleep(ring_late, kLongNs));
  EXPECT_EQ(parked_.load(), 0u);
}

TEST_F(Doorbell, SaysWhenOnlyTheTimeOutEndedTheSleep) {
  EXPECT_FALSE(sleep_.Sleep([] { return false; }, 1'000));
  EXPECT_EQ(parked_.load(), 0u);
}

TEST_F(Doorbell, WakesALaneThatSleeps) {
  std::thread lane([this] { EXPECT_TRUE(sleep_.Sleep([] { return false; }, kLongNs)); });
  while (parked_.load() == 0) std::this_thread::yield();
  EXPECT_TRUE(bell_.Ring());
  bell_.Wake();
  lane.join();
}

}  // namespace
}  // namespace mpsd
