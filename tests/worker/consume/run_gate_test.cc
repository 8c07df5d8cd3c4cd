#include "worker/consume/run_gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "proto/base/clock.h"

namespace mpsd {
namespace {

constexpr int64_t kLongNs = 60 * kNsPerSecond;

TEST(RunGate, RunsGoOnBesideEachOther) {
  RunGate gate;
  const RunGate::Run run(&gate);
  std::thread([&gate] { const RunGate::Run other(&gate); }).join();
}

TEST(RunGate, WorkThatMayNotWaitIsNotDoneBesideARun) {
  RunGate gate;
  int times = 0;
  const auto try_alone = [&] {
    bool done = false;
    std::thread([&] { done = gate.Alone(/*wait_ns=*/0, [&] { ++times; }); }).join();
    return done;
  };
  {
    const RunGate::Run run(&gate);
    EXPECT_FALSE(try_alone());
    EXPECT_EQ(times, 0);
  }
  EXPECT_TRUE(try_alone());
  EXPECT_EQ(times, 1);
}

TEST(RunGate, WorkThatMayWaitIsDoneOnceNoRunIsLeft) {
  RunGate gate;
  std::atomic<bool> running{true};
  std::atomic<bool> was_running{true};
  std::optional<RunGate::Run> run(std::in_place, &gate);
  std::thread alone(
      [&] { EXPECT_TRUE(gate.Alone(kLongNs, [&] { was_running = running.load(); })); });
  absl::SleepFor(absl::Milliseconds(20));  // or the work would find the run over without a wait
  running = false;
  run.reset();
  alone.join();
  EXPECT_FALSE(was_running);
}

TEST(RunGate, WorkWaitsNoLongerThanItMay) {
  RunGate gate;
  std::optional<RunGate::Run> run(std::in_place, &gate);
  absl::Notification ended;
  bool done = false;
  std::thread alone([&] {
    done = gate.Alone(kNsPerMs, [] {});
    ended.Notify();
  });
  EXPECT_TRUE(ended.WaitForNotificationWithTimeout(absl::Seconds(10)));
  run.reset();
  alone.join();
  EXPECT_FALSE(done);
  const RunGate::Run next(&gate);  // the gate is open again
}

TEST(RunGate, NoRunBeginsBesideWorkOrBeforeItsTurn) {
  RunGate gate;
  std::atomic<bool> done{false};
  std::optional<std::thread> other;
  EXPECT_TRUE(gate.Alone(0, [&] {
    other.emplace([&] {
      const RunGate::Run run(&gate);
      EXPECT_TRUE(done);
    });
    absl::SleepFor(absl::Milliseconds(20));
    EXPECT_FALSE(gate.Alone(kLongNs, [] {})) << "one is alone at a time";
    done = true;
  }));
  other->join();
}

TEST(RunGate, WhereNothingIsTrimmedARunNeedsNone) { const RunGate::Run run(nullptr); }

}  // namespace
}  // namespace mpsd
