#include "tests/metal/rules/serial_queue.h"

#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/metal/rules/rule_test.h"

namespace mpsd::standin {
namespace {

using SerialQueueTest = RuleTest;

TEST_F(SerialQueueTest, AWaitInTheOwnQueueBreaksTheRuleAndRuns) {
  SerialQueue queue;
  bool has_run = false;
  queue.RunAndWait([&] { queue.RunAndWait([&] { has_run = true; }); });
  EXPECT_TRUE(has_run);
  EXPECT_EQ(Count(kWaitInOwnQueue), 1U);
}

TEST_F(SerialQueueTest, ABlockMayWaitForAnotherQueue) {
  SerialQueue outer;
  SerialQueue inner;
  outer.RunAndWait([&] {
    inner.RunAndWait([&] { EXPECT_TRUE(outer.IsInside()); });
    EXPECT_FALSE(inner.IsInside());
  });
  EXPECT_EQ(Total(), 0U);
}

TEST_F(SerialQueueTest, ABlockFindsTheMarkOfItsOwnQueueAlone) {
  SerialQueue outer;
  SerialQueue inner;
  int key = 0;
  outer.Mark(&key, &outer);
  EXPECT_EQ(SerialQueue::MarkHere(&key), nullptr);
  outer.RunAndWait([&] {
    EXPECT_EQ(SerialQueue::MarkHere(&key), &outer);
    inner.RunAndWait([&] { EXPECT_EQ(SerialQueue::MarkHere(&key), nullptr); });
  });
}

TEST_F(SerialQueueTest, BlocksOfThreadsRunOneAtATime) {
  SerialQueue queue;
  int count = 0;  // a race, if two blocks run at once
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 1000; ++k) queue.RunAndWait([&] { ++count; });
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 4000);
  EXPECT_EQ(Total(), 0U);
}

TEST_F(SerialQueueTest, ABlockMayRunOnAThreadOfItsOwn) {
  SerialQueue queue(/*has_block_threads=*/true);
  std::thread::id ran_on;
  queue.RunAndWait([&] {
    ran_on = std::this_thread::get_id();
    EXPECT_TRUE(queue.IsInside());
  });
  EXPECT_NE(ran_on, std::thread::id());
  EXPECT_NE(ran_on, std::this_thread::get_id());
  EXPECT_THROW(queue.RunAndWait([] { throw std::runtime_error("no memory"); }), std::runtime_error);
}

TEST_F(SerialQueueTest, ABlockThatThrowsLeavesTheQueueFree) {
  SerialQueue queue;
  EXPECT_THROW(queue.RunAndWait([] { throw std::runtime_error("no memory"); }), std::runtime_error);
  EXPECT_EQ(Count(kExceptionInQueue), 1U);
  EXPECT_FALSE(queue.IsInside());
  std::thread([&] { queue.RunAndWait([] {}); }).join();
}

}  // namespace
}  // namespace mpsd::standin
