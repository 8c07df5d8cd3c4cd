#include "server/supervise/worker_life.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace mpsd {
namespace {

using Life = WorkerLife;
using State = WorkerState;

// Waiting, Loading, warMing, Serving, Draining, Ending: the order of WorkerState.
constexpr std::string_view kLetters = "WLMSDE";

// The same time by both clocks.
LifeTime At(int64_t ns) { return {kNsPerSecond + ns, kNsPerSecond + ns}; }

LifeActions Look(Life* life, int64_t ns, uint32_t inflight = 1) {
  WorkerProgress progress;
  progress.lanes = {{inflight, 0, 0}};
  progress.inflight = inflight;
  return life->Look(progress, 20 * kNsPerSecond, At(ns), [] { return true; });
}

// A life that has come into the state at once.
Life LifeIn(State state) {
  Life life;
  if (state >= State::kLoading) life.Spawn(At(0));
  if (state >= State::kWarming) life.Attach(At(0));
  if (state >= State::kWarming) life.WarmUp();
  if (state >= State::kServing) life.Serve(1, 5, At(0));
  if (state >= State::kDraining) life.Drain();
  if (state >= State::kEnding) life.HangUp(At(0));
  return life;
}

std::string TextOf(const LifeActions& actions) {
  return absl::StrCat(actions.quiesce ? "quiesce " : "", actions.kill ? "kill " : "",
                      actions.hang ? "hang" : "",
                      actions.give_up.has_value() ? actions.give_up->text : "");
}

// One event in each state: the next states by their letters, where '-' means that it cannot happen.
struct Row {
  absl::string_view event, next, actions;
  std::function<LifeActions(Life*)> happen;
};

std::vector<Row> Rows() {
  return {
      {"Spawn", "L-----", "", [](Life* life) { return life->Spawn(At(0)); }},
      {"FailToSpawn", "W-----", "", [](Life* life) { return life->FailToSpawn(0, At(0)); }},
      {"Rest", "W-----", "", [](Life* life) { return life->Rest(0, At(0)); }},
      {"GoOn", "-L----", "",
       [](Life* life) { return life->GoOn(LoadStep::kReported, At(0)), LifeActions(); }},
      {"Attach", "-M----", "", [](Life* life) { return life->Attach(At(0)); }},
      {"WarmUp", "--M---", "", [](Life* life) { return life->WarmUp(), LifeActions(); }},
      {"Serve", "--S---", "", [](Life* life) { return life->Serve(1, 5, At(0)); }},
      {"Tick", "WLMSDE", "", [](Life* life) { return life->Tick({}, At(0)); }},
      {"Look", "---SD-", "", [](Life* life) { return Look(life, 0); }},
      {"Drain", "---D--", "quiesce ", [](Life* life) { return life->Drain(); }},
      {"GiveUp", "-EEEEE", "kill hang", [](Life* life) { return life->GiveUp({}, false, false); }},
      {"HangUp", "-EEEEE", "quiesce hang", [](Life* life) { return life->HangUp(At(0)); }},
      {"Fail", "-EEEEE", "hang", [](Life* life) { return life->Fail(false, At(0)); }},
      {"Go", "-EEEEE", "", [](Life* life) { return life->Go(), LifeActions(); }},
      {"Reap", "-----W", "", [](Life* life) { return life->Reap(false, 0, At(0)), LifeActions(); }},
  };
}

TEST(WorkerLifeDeathTest, EachEventLeadsWhereTheTableSays) {
  for (const Row& row : Rows()) {
    for (size_t from = 0; from < kLetters.size(); ++from) {
      Life life = LifeIn(static_cast<State>(from));
      SCOPED_TRACE(absl::StrCat(row.event, " in ", WorkerStateName(life.state())));
      if (row.next[from] == '-') {
        EXPECT_DEATH(row.happen(&life), "check failed");
        continue;
      }
      EXPECT_EQ(TextOf(row.happen(&life)), row.actions);
      EXPECT_EQ(kLetters[static_cast<size_t>(life.state())], row.next[from]);
    }
  }
}

TEST(WorkerLifeDeathTest, NoStepIsLeftOut) {
  Life life;
  life.Dismiss(At(0));
  EXPECT_DEATH(life.Spawn(At(0)), "check failed") << "it is leaving";
  life = LifeIn(State::kLoading);
  EXPECT_DEATH(life.GoOn(LoadStep::kAsked, At(0)), "check failed") << "before its report";
  life.Attach(At(0));
  EXPECT_DEATH(life.Serve(1, 5, At(0)), "check failed") << "before it is warm";
}

TEST(WorkerLifeTest, ExpectsEachMessageInItsTurnAlone) {
  const auto expected = [](const Life& life) {
    return absl::StrCat(
        life.Expects(LoadReport{}) ? "report" : "", life.Expects(WeightsTold{}) ? "weights" : "",
        life.Expects(Ready{}) ? "ready " : "", life.Expects(SlabsMapped{}) ? "mapped " : "",
        life.Expects(SlabsUnmapped{}) ? "unmapped" : "", life.Expects(LoadOrder{}) ? "order" : "");
  };
  Life life = LifeIn(State::kLoading);
  EXPECT_EQ(expected(life), "report");
  for (const LoadStep step : {LoadStep::kReported, LoadStep::kWaits}) {
    life.GoOn(step, At(0));
    EXPECT_EQ(expected(life), "");
  }
  life.GoOn(LoadStep::kAsked, At(0));
  EXPECT_EQ(expected(life), "weights");
  life.Attach(At(0));
  EXPECT_EQ(expected(life), "ready mapped unmapped");
  for (const State state : {State::kWarming, State::kServing, State::kDraining}) {
    EXPECT_EQ(expected(LifeIn(state)), "mapped unmapped") << "it was ready already";
  }
}

TEST(WorkerLifeTest, ItsLoadAndItsWarmUpHaveBudgets) {
  SupervisionLimits limits;
  limits.load_timeout_ns = 5;
  limits.warmup_timeout_ns = 9;
  Life life = LifeIn(State::kLoading);
  EXPECT_EQ(TextOf(life.Tick(limits, At(5))), "");
  EXPECT_EQ(TextOf(life.Tick(limits, At(6))), "the model was not loaded within 5ns");
  EXPECT_EQ(life.Tick(limits, At(6)).give_up->exit, WorkerExit::kHang);
  life.GoOn(LoadStep::kReported, At(6));
  life.GoOn(LoadStep::kWaits, At(6));
  EXPECT_EQ(TextOf(life.Tick(limits, At(99))), "") << "another worker may take its time";
  life.GoOn(LoadStep::kAsked, At(99));
  EXPECT_EQ(TextOf(life.Tick(limits, At(105))), "the model was not loaded within 5ns");
  life.Attach(At(200));
  EXPECT_EQ(TextOf(life.Tick(limits, At(209))), "");
  EXPECT_EQ(TextOf(life.Tick(limits, At(210))), "the lanes were not warm within 9ns");
}

TEST(WorkerLifeTest, ALaneHasItsBudgetWhileItDrainsToo) {
  for (const State state : {State::kServing, State::kDraining}) {
    Life life = LifeIn(state);
    Look(&life, 0);
    EXPECT_EQ(TextOf(Look(&life, 20 * kNsPerSecond)), "");
    EXPECT_EQ(TextOf(Look(&life, 20 * kNsPerSecond + 1)), "lane 0 made no progress for 20s");
    EXPECT_EQ(life.is_silent(), state == State::kServing);
    EXPECT_EQ(TextOf(Look(&life, 0, /*inflight=*/0)), state == State::kServing ? "" : "hang");
  }
  Life life = LifeIn(State::kServing);
  EXPECT_EQ(TextOf(Look(&life, kIdleBudgetNs, /*inflight=*/0)), "");
  EXPECT_EQ(TextOf(Look(&life, kIdleBudgetNs + 1, 0)), "lane 0 made no progress for 15s");
}

TEST(WorkerLifeTest, OneThatDoesNotLeaveWithinASecondIsKilledOnce) {
  const auto killed_for = [](const std::function<LifeActions(Life*)>& leave) {
    Life life = LifeIn(State::kServing);
    leave(&life);
    EXPECT_EQ(TextOf(life.Tick({}, At(kNsPerSecond - 1))), "");
    EXPECT_EQ(TextOf(life.Tick({}, At(kNsPerSecond))), "kill ");
    EXPECT_EQ(TextOf(life.Tick({}, At(kNsPerSecond + 1))), "");
    return life.ending()->facts.verdict->exit;
  };
  EXPECT_EQ(killed_for([](Life* life) { return life->HangUp(At(0)); }), WorkerExit::kProtocol);
  EXPECT_EQ(killed_for([](Life* life) { return life->Fail(false, At(0)); }), WorkerExit::kLoad);
  EXPECT_EQ(killed_for([](Life* life) { return life->Dismiss(At(0)); }), WorkerExit::kAsked);
}

TEST(WorkerLifeTest, TheFirstVerdictCounts) {
  Life life = LifeIn(State::kServing);
  life.GiveUp({WorkerExit::kHang, "silence"}, /*stopped=*/true, /*lasts=*/true);
  life.GiveUp({WorkerExit::kProtocol, "it lies"}, /*stopped=*/false, /*lasts=*/false);
  EXPECT_EQ(life.ending()->facts.verdict->text, "silence");
  EXPECT_TRUE(life.ending()->facts.was_stopped) << "no killed process is";
  EXPECT_TRUE(life.ending()->lasts);
  EXPECT_EQ(life.ending()->during, State::kServing);
}

TEST(WorkerLifeTest, RestsTwiceAsLongAfterEachDeathUntilItServesWell) {
  Life life;
  const auto rest_ns = [&life](int64_t served_ns) {
    life.Spawn(At(0));
    life.Attach(At(0));
    life.WarmUp();
    life.Serve(1, 5, At(0));
    life.Go();
    EXPECT_EQ(life.Reap(false, 0, At(served_ns)), served_ns > kGoodServiceNs);
    return life.start_at_ns() - At(served_ns).now_ns;
  };
  for (const int64_t wait_ms : {0, 100, 200, 400}) {
    EXPECT_EQ(rest_ns(kGoodServiceNs), wait_ms * kNsPerMs);
  }
  EXPECT_EQ(rest_ns(kGoodServiceNs + 1), 0);
}

}  // namespace
}  // namespace mpsd
