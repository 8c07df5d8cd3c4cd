// Both ends of a lane as two threads over one mapping, which is where a thread sanitizer sees them.

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <thread>

#include "tests/shm/hop_ends.h"

namespace mpsd {
namespace {

constexpr uint64_t kHops = 200'000;

struct SharedWords {
  MailboxPage page;
  LaneMailbox mailbox;
  LaneReport report;
};

// Some waits sleep at once, the others look for a while that differs widely from wait to wait: the
// sleeps begin at every moment of the peer's work, and the long ones let both ends run at once.
Patience Restless(uint32_t seed) {
  return [random = std::mt19937(seed)]() mutable -> uint32_t {
    const uint32_t number = random();
    return number % 4 == 0 ? 0 : (number >> 8) % (1U << ((number >> 2) % 14));
  };
}

Patience Sleepy() {
  return [] { return 0U; };
}

class RingThreads : public testing::Test {
 protected:
  // Sends `hops` ids around with up to `depth` inside, then stops the lane. Ends early at a lost
  // wake, since the next one would cost its time-out again.
  void Hop(uint64_t hops, uint32_t depth, Patience front_patience, Patience lane_patience) {
    std::thread lane([&] {
      LaneHops ends(&words_->page, &words_->mailbox, &words_->report, bell_.ring_fd.get(),
                    std::move(lane_patience));
      ends.Serve();
    });
    FrontHops front(&words_->page, &words_->mailbox, &words_->report, bell_.poll_fd.get(),
                    std::move(front_patience));
    uint64_t submitted = 0;
    uint64_t taken = 0;
    while (taken < hops && front.lost_wakes() == 0) {
      while (submitted < hops && submitted - taken < depth) front.Submit(submitted++);
      EXPECT_EQ(front.Take(), taken);
      ++taken;
    }
    while (taken < submitted) EXPECT_EQ(front.Take(), taken++);
    front.Submit(kStopHop);
    EXPECT_EQ(front.Take(), kStopHop);
    lane.join();
    lost_wakes_ = front.lost_wakes();
    parks_ = front.parks();
    wakes_ = front.wakes();
  }

  std::unique_ptr<SharedWords> words_ = std::make_unique<SharedWords>();
  platform::Bell bell_ = platform::CreateBell().value();
  uint64_t lost_wakes_ = 0;
  uint64_t parks_ = 0;
  uint64_t wakes_ = 0;
};

TEST_F(RingThreads, LoseNoWakeWhenBothEndsSleepBetweenHops) {
  Hop(kHops, 1, Sleepy(), Sleepy());
  EXPECT_EQ(lost_wakes_, 0u);
  EXPECT_GT(parks_, kHops / 10) << "the front end hardly slept, so this says little";
  EXPECT_GT(wakes_, kHops / 10) << "the lane hardly slept, so this says little";
}

TEST_F(RingThreads, LoseNoWakeWhenTheEndsSleepAtRandom) {
  Hop(kHops, 1, Restless(1), Restless(2));
  EXPECT_EQ(lost_wakes_, 0u);
  EXPECT_GT(parks_, 0u);
  EXPECT_GT(wakes_, 0u);
}

TEST_F(RingThreads, LoseNoWakeWithABatchQueuedBehindTheRunningOne) {
  Hop(kHops, kMaxLaneDepth, Restless(3), Restless(4));
  EXPECT_EQ(lost_wakes_, 0u);
}

}  // namespace
}  // namespace mpsd
