#include "server/http/reply_queue.h"

#include <gtest/gtest.h>

#include <boost/asio/executor_work_guard.hpp>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

namespace mpsd {
namespace {

// Notes its replies, and may come again. Thread-compatible.
class Noted final : public Replying {
 public:
  explicit Noted(std::vector<const Noted*>* order) : order_(order) {}
  void ReplyIsThere() override {
    order_->push_back(this);
    if (then) then();
  }

  std::function<void()> then;

 private:
  std::vector<const Noted*>* const order_;
};

TEST(ReplyQueueTest, RepliesAreTakenInTheirOrder) {
  boost::asio::io_context io;
  ReplyQueue queue(&io);
  EXPECT_EQ(queue.Take(), 0U);
  std::vector<const Noted*> order;
  Noted first(&order);
  Noted second(&order);
  first.then = [&] { queue.Push(&first); };
  queue.Push(&first);
  queue.Push(&second);
  EXPECT_EQ(queue.Take(), 2U);
  EXPECT_EQ(order, (std::vector<const Noted*>{&first, &second}));
  first.then = nullptr;
  EXPECT_EQ(queue.Take(), 1U) << "it came again meanwhile";
  EXPECT_EQ(order.back(), &first);
}

TEST(ReplyQueueTest, OneWakeUpIsForAllThatCome) {
  boost::asio::io_context io;
  ReplyQueue queue(&io);
  std::vector<const Noted*> order;
  Noted first(&order);
  Noted second(&order);
  queue.Push(&first);
  EXPECT_FALSE(queue.FallAsleep());
  queue.WakeUp();
  EXPECT_EQ(io.poll(), 0U) << "its thread was awake";
  queue.Take();
  EXPECT_TRUE(queue.FallAsleep());
  queue.Push(&first);
  queue.Push(&second);
  io.restart();
  EXPECT_EQ(io.poll(), 1U);
  EXPECT_EQ(queue.Take(), 2U);
}

// A sleep that nobody ends would hang this test.
TEST(ReplyQueueTest, NoReplyIsLostBetweenThreads) {
  constexpr int kThreads = 3;
  constexpr int kReplies = 2000;
  boost::asio::io_context io;
  const auto work = boost::asio::make_work_guard(io);
  ReplyQueue queue(&io);
  std::vector<const Noted*> order;
  std::deque<Noted> noted;
  for (int i = 0; i < kThreads * kReplies; ++i) noted.emplace_back(&order);
  std::vector<std::thread> threads;
  for (size_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (size_t i = 0; i < kReplies; ++i) queue.Push(&noted[thread * kReplies + i]);
    });
  }
  size_t taken = 0;
  while (taken < kThreads * kReplies) {
    taken += queue.Take();
    if (taken == kThreads * kReplies) break;
    if (queue.FallAsleep()) io.run_one();
    queue.WakeUp();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(order.size(), noted.size());
}

}  // namespace
}  // namespace mpsd
