#include "worker/consume/run_gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>

namespace mpsd {
namespace {

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
    std::thread([&] { done = gate.Alone(/*may_wait=*/false, [&] { ++times; }); }).join();
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
      [&] { EXPECT_TRUE(gate.Alone(/*may_wait=*/true, [&] { was_running = running.load(); })); });
  running = false;
  run.reset();
  alone.join();
  EXPECT_FALSE(was_running);
}

TEST(RunGate, WhereNothingIsTrimmedARunNeedsNone) { const RunGate::Run run(nullptr); }

}  // namespace
}  // namespace mpsd
