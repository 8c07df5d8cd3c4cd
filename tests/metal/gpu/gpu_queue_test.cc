#include "tests/metal/gpu/gpu_queue.h"

#include <cstring>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/metal/gpu/gpu_fault.h"
#include "tests/metal/gpu/shared_event.h"
#include "tests/metal/rules/rule_test.h"

namespace mpsd::standin {
namespace {

class GpuQueueTest : public RuleTest {
 protected:
  static std::shared_ptr<CommandBuffer> Buffer() { return std::make_shared<CommandBuffer>(); }

  // A command that copies all of `source`.
  static Command Copy(const std::shared_ptr<GpuMemory>& source,
                      const std::shared_ptr<GpuMemory>& target) {
    const GpuRange from{source, 0, source->bytes()};
    const GpuRange to{target, 0, source->bytes()};
    return Command{[=] { std::memcpy(to.data(), from.data(), from.bytes); }, {from}, {to}};
  }

  GpuQueue queue_{Delays(1, 50)};
};

TEST_F(GpuQueueTest, BuffersRunInTheOrderOfTheirCommits) {
  std::vector<int> order;  // owned by the gpu's thread
  std::shared_ptr<CommandBuffer> last;
  for (int i = 0; i < 20; ++i) {
    last = Buffer();
    last->Add("fill", Command{[&order, i] { order.push_back(i); }, {}, {}});
    EXPECT_TRUE(queue_.Commit(last));
  }
  last->WaitUntilCompleted();
  ASSERT_EQ(order.size(), 20U);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
  EXPECT_EQ(Total(), 0U);
}

TEST_F(GpuQueueTest, HandlersRunAroundTheCommandsBeforeTheWaitEnds) {
  std::vector<const char*> order;
  const auto buffer = Buffer();
  buffer->AddCompletedHandler([&] { order.push_back("completed"); });
  buffer->AddScheduledHandler([&] { order.push_back("scheduled"); });
  buffer->Add("fill", Command{[&] { order.push_back("command"); }, {}, {}});
  queue_.Commit(buffer);
  buffer->WaitUntilCompleted();
  EXPECT_EQ(order, std::vector<const char*>({"scheduled", "command", "completed"}));
}

TEST_F(GpuQueueTest, ACommandHoldsItsMemoryUntilItHasRun) {
  auto source = GpuMemory::Make(64);
  const auto target = GpuMemory::Make(64);
  std::memset(source->data(), 7, 64);
  const std::weak_ptr<GpuMemory> held = source;
  const auto buffer = Buffer();
  buffer->Add("copy", Copy(source, target));
  source.reset();
  EXPECT_FALSE(held.expired());
  queue_.Commit(buffer);
  buffer->WaitUntilCompleted();
  EXPECT_TRUE(held.expired());
  EXPECT_EQ(target->data()[63], 7);
}

// The event holds the gpu back until the host has written.
TEST_F(GpuQueueTest, AHostThatWritesWhatTheGpuIsToReadBreaksTheRule) {
  const auto source = GpuMemory::Make(64);
  const auto target = GpuMemory::Make(64);
  std::memset(source->data(), 0, 64);
  SharedEvent written;
  const auto buffer = Buffer();
  buffer->AddEvent("encodeWaitForEvent", [&] { written.WaitFor(1); });
  buffer->Add("copy", Copy(source, target));
  queue_.Commit(buffer);
  source->data()[5] = 1;
  written.Signal(1);
  buffer->WaitUntilCompleted();
  EXPECT_EQ(Count(kHostWrite), 1U);
}

TEST_F(GpuQueueTest, TheGpuMayWriteWhatItReadsLater) {
  const auto first = GpuMemory::Make(64);
  const auto second = GpuMemory::Make(64);
  std::memset(first->data(), 1, 64);
  std::memset(second->data(), 0, 64);
  const auto buffer = Buffer();
  buffer->Add("copy", Copy(first, second));
  buffer->Add("copy", Copy(second, first));
  queue_.Commit(buffer);
  buffer->WaitUntilCompleted();
  EXPECT_EQ(Total(), 0U);
}

TEST_F(GpuQueueTest, ACommandOutsideOfItsMemoryIsRefused) {
  const auto memory = GpuMemory::Make(64);
  const auto buffer = Buffer();
  bool has_run = false;
  buffer->Add("fill", Command{[&] { has_run = true; }, {}, {GpuRange{memory, 60, 8}}});
  queue_.Commit(buffer);
  buffer->WaitUntilCompleted();
  EXPECT_FALSE(has_run);
  EXPECT_EQ(Count(kOutOfRange), 1U);
}

TEST_F(GpuQueueTest, NothingIsAddedAfterTheCommit) {
  const auto buffer = Buffer();
  queue_.Commit(buffer);
  buffer->Add("fill", Command{[] {}, {}, {}});
  buffer->AddCompletedHandler([] {});
  EXPECT_FALSE(queue_.Commit(buffer));
  EXPECT_EQ(Count(kEncodeAfterCommit), 1U);
  EXPECT_EQ(Count(kHandlerAfterCommit), 1U);
  EXPECT_EQ(Count(kCommitTwice), 1U);
}

TEST_F(GpuQueueTest, ACommandThatFailsLeavesTheOthers) {
  const auto buffer = Buffer();
  bool has_run = false;
  buffer->Add("fill", Command{[] { throw std::runtime_error("no such operator"); }, {}, {}});
  buffer->Add("fill", Command{[&] { has_run = true; }, {}, {}});
  queue_.Commit(buffer);
  buffer->WaitUntilCompleted();
  EXPECT_TRUE(has_run);
  EXPECT_EQ(Count(kCommandFails), 1U);
}

// One queue waits for the other, whichever is late.
TEST_F(GpuQueueTest, AnEventOrdersTwoQueues) {
  GpuQueue other(Delays(2, 50));
  SharedEvent event;
  bool has_written = false;
  const auto waits = Buffer();
  waits->AddEvent("encodeWaitForEvent", [&] { event.WaitFor(1); });
  waits->Add("read", Command{[&] { EXPECT_TRUE(has_written); }, {}, {}});
  queue_.Commit(waits);
  const auto signals = Buffer();
  signals->Add("write", Command{[&] { has_written = true; }, {}, {}});
  signals->AddEvent("encodeSignalEvent", [&] { event.Signal(1); });
  other.Commit(signals);
  waits->WaitUntilCompleted();
}

TEST_F(GpuQueueTest, AFaultFailsEachBufferUntilItEnds) {
  const auto run = [this] {
    const auto buffer = Buffer();
    bool has_run = false;
    buffer->Add("fill", Command{[&] { has_run = true; }, {}, {}});
    queue_.Commit(buffer);
    buffer->WaitUntilCompleted();
    EXPECT_EQ(buffer->error().empty(), has_run);
    return has_run;
  };
  GpuFault& fault = GpuFault::OfProcess();
  EXPECT_TRUE(run());
  fault.Begin();
  EXPECT_FALSE(run());
  EXPECT_FALSE(run());
  fault.End();
  EXPECT_TRUE(run());
}

TEST(Delays, OneSeedOneSequence) {
  Delays first(3, 1000);
  Delays same(3, 1000);
  bool any_long = false;
  for (int i = 0; i < 100; ++i) {
    const auto delay = first.Next();
    EXPECT_EQ(delay, same.Next());
    EXPECT_LE(delay.count(), 1000);
    any_long = any_long || delay.count() > 125;
  }
  EXPECT_TRUE(any_long);
}

}  // namespace
}  // namespace mpsd::standin
