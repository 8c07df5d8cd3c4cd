// Tables of (snapshot, now) → decision.
#include "server/pool/schedule/predictive_scheduler.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "proto/base/limits.h"

namespace mpsd {

// So that a failure shows what was decided.
void PrintTo(const SchedulerDecision& decision, std::ostream* out) {
  static constexpr const char* kSteps[] = {"wait", "keep worker", "drop", "run"};
  *out << kSteps[static_cast<int>(decision.step)] << " line " << decision.line << " lane "
       << decision.lane << " worker " << decision.worker << " rows " << decision.max_rows << " at "
       << decision.at_ns;
}

namespace {

constexpr int64_t kNow = 1000;
constexpr int64_t kDelay = 50;
constexpr uint32_t kMaxRows = 4;
constexpr uint32_t kSuspects = SchedulerDecision::kSuspects;

SchedulerDecision Wait(int64_t at_ns = SchedulerDecision::kNever) {
  return SchedulerDecision::WaitUntil(at_ns);
}
SchedulerDecision RunLine(uint32_t line, uint32_t lane) {
  return SchedulerDecision::Run(line, lane, kMaxRows);
}

struct Case {
  std::string name;
  std::vector<LineView> lines;  // rows, head's rows, arrival, deadline
  LineView suspects;
  std::vector<WorkerView> workers;  // first lane, batches, takes batches, kept
  std::vector<LaneView> lanes;      // worker, batches
  SchedulerDecision wanted;
  uint32_t lane_depth = 1;
  int64_t max_delay_ns = 0;
};

std::string NameOf(const testing::TestParamInfo<Case>& info) { return info.param.name; }
// A test's name must not hold addresses, which differ from run to run.
void PrintTo(const Case& row, std::ostream* out) { *out << row.name; }

class PredictiveSchedulerTable : public testing::TestWithParam<Case> {};

TEST_P(PredictiveSchedulerTable, Decides) {
  const Case& row = GetParam();
  const PredictiveScheduler scheduler(row.lane_depth, row.max_delay_ns);
  const SchedulerSnapshot snapshot = {row.lines, row.suspects, row.lanes, row.workers, kMaxRows};
  EXPECT_EQ(scheduler.Decide(snapshot, kNow), row.wanted);
  EXPECT_EQ(scheduler.Decide(snapshot, kNow), row.wanted) << "the same again: it has no state";
}

constexpr LineView kEmpty;
constexpr LineView kLate = {1, 1, kNow, kNow + 30};
constexpr LineView kEarly = {1, 1, kNow, kNow + 10};
constexpr LineView kExpired = {1, 1, kNow, kNow};
constexpr LineView kFull = {kMaxRows, 1, kNow, kNow + 200};
constexpr LineView kYoung = {kMaxRows - 1, 1, kNow - kDelay + 1, kNow + 100};
constexpr LineView kFresh = {1, 1, kNow, kNow + 200};
constexpr LineView kDue = {1, 1, kNow - kDelay, kNow + 300};

const std::vector<WorkerView> kIdleWorker = {{0, 0, true, false}};
const std::vector<WorkerView> kBusyWorker = {{0, 1, true, false}};
const std::vector<LaneView> kIdleLane = {{0, 0}};
const std::vector<LaneView> kBusyLane = {{0, 1}};
// Worker 0 has lanes 0 and 1, worker 1 has lanes 2 and 3.
const std::vector<LaneView> kFourIdle = {{0, 0}, {0, 0}, {1, 0}, {1, 0}};

INSTANTIATE_TEST_SUITE_P(
    Lines, PredictiveSchedulerTable,
    testing::Values(
        Case{"NothingWaits", {}, {}, kIdleWorker, kIdleLane, Wait()},
        Case{"EmptyLines", {kEmpty, kEmpty}, {}, kIdleWorker, kIdleLane, Wait()},
        Case{"AFreeLaneNeverWaits", {kLate}, {}, kIdleWorker, kIdleLane, RunLine(0, 0)},
        Case{"EarliestDeadlineFirst", {kLate, kEarly}, {}, kIdleWorker, kIdleLane, RunLine(1, 0)},
        Case{"OfEqualDeadlinesTheFirst",
             {kEmpty, kLate, kLate},
             {},
             kIdleWorker,
             kIdleLane,
             RunLine(1, 0)},
        Case{"AnExpiredHeadIsDropped",
             {kEarly, kExpired},
             {},
             kIdleWorker,
             kIdleLane,
             SchedulerDecision::Drop(1, kNow)},
        Case{
            "AnExpiredHeadStaysWhileNoLaneIsFree", {kExpired}, {}, kBusyWorker, kBusyLane, Wait()}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    MaxDelay, PredictiveSchedulerTable,
    testing::Values(
        Case{"NotDueUntilTheHeadHasWaited",
             {kYoung},
             {},
             kIdleWorker,
             kIdleLane,
             Wait(kNow + 1),
             1,
             kDelay},
        Case{"OrUntilItsOwnTimeIsNearlyOver",
             {kLate},
             {},
             kIdleWorker,
             kIdleLane,
             Wait(kNow + 27),
             1,
             kDelay},
        Case{"DueOnceTheHeadHasWaited",
             {kDue},
             {},
             kIdleWorker,
             kIdleLane,
             RunLine(0, 0),
             1,
             kDelay},
        Case{"AFullBatchIsDue", {kFull}, {}, kIdleWorker, kIdleLane, RunLine(0, 0), 1, kDelay},
        Case{"AnEarlierLineThatIsNotDueWaits",
             {kYoung, kFull},
             {},
             kIdleWorker,
             kIdleLane,
             RunLine(1, 0),
             1,
             kDelay},
        Case{"OfThoseDueTheEarliestDeadline",
             {kDue, kYoung, kFull},
             {},
             kIdleWorker,
             kIdleLane,
             RunLine(2, 0),
             1,
             kDelay},
        Case{"TheFirstOfTwoTimes",
             {kFresh, kYoung},
             {},
             kIdleWorker,
             kIdleLane,
             Wait(kNow + 1),
             1,
             kDelay},
        Case{"NobodyIsWokenForWhereNoLaneIsFree",
             {kYoung},
             {},
             kBusyWorker,
             kBusyLane,
             Wait(),
             1,
             kDelay}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Lanes, PredictiveSchedulerTable,
    testing::Values(
        Case{"NoWorker", {kLate}, {}, {}, {}, Wait()},
        Case{"AFullLaneGetsNothing", {kLate}, {}, kBusyWorker, kBusyLane, Wait()},
        Case{"ADeepLaneGetsASecondBatch", {kFull}, {}, kBusyWorker, kBusyLane, RunLine(0, 0), 2},
        Case{"ButNoneThatMayGrow", {kYoung}, {}, kBusyWorker, kBusyLane, Wait(), 2},
        Case{"AndNoThird", {kFull}, {}, {{0, 2, true, false}}, {{0, 2}}, Wait(), 2},
        Case{"TheEmptiestLane",
             {kLate},
             {},
             {{0, 1, true, false}, {2, 3, true, false}},
             {{0, 1}, {0, 0}, {1, 1}, {1, 2}},
             RunLine(0, 1),
             2},
        Case{"OfTheIdlestWorker",
             {kLate},
             {},
             {{0, 1, true, false}, {2, 0, true, false}},
             {{0, 1}, {0, 0}, {1, 0}, {1, 0}},
             RunLine(0, 2)},
        Case{"OfEqualLanesTheOneThatIsFreeFirst",
             {kFull},
             {},
             {{0, 1, true, false}, {1, 1, true, false}},
             {{0, 1, kNow + 20}, {1, 1, kNow + 10}},
             RunLine(0, 1),
             2},
        Case{"OneThatIsLateIsAvoided",
             {kFull},
             {},
             {{0, 1, true, false}, {1, 1, true, false}},
             {{0, 1, kNow - 20}, {1, 1, kNow + 10}},
             RunLine(0, 1),
             2},
        Case{"OfEqualLanesTheFirst",
             {kLate},
             {},
             {{0, 0, true, false}, {2, 0, true, false}},
             kFourIdle,
             RunLine(0, 0)},
        Case{"NotOfAWorkerThatIsToGo",
             {kLate},
             {},
             {{0, 0, false, false}, {2, 0, true, false}},
             kFourIdle,
             RunLine(0, 2)}),
    NameOf);

LineView WithAnswerOf(uint64_t bytes, LineView line) {
  line.head_output_bytes = bytes;
  return line;
}

WorkerView WithLeases(uint64_t bytes, WorkerView worker) {
  worker.largest_lease_bytes = bytes;
  return worker;
}

INSTANTIATE_TEST_SUITE_P(
    LargeAnswers, PredictiveSchedulerTable,
    testing::Values(Case{"GoToAWorkerThatCanHoldThem",
                         {},
                         WithAnswerOf(9, kLate),
                         {WithLeases(8, {0, 0, true, false}), WithLeases(9, {2, 1, true, false})},
                         {{0, 0}, {0, 0}, {1, 1}, {1, 0}},
                         SchedulerDecision::KeepWorker(1)},
                    Case{"ThoughAnotherIsKept",
                         {},
                         WithAnswerOf(9, kLate),
                         {WithLeases(8, {0, 0, true, true}), WithLeases(9, {2, 0, true, false})},
                         kFourIdle,
                         SchedulerDecision::KeepWorker(1)},
                    Case{"ButNotWhileASuspectRunsThere",
                         {},
                         WithAnswerOf(9, kLate),
                         {WithLeases(8, {0, 1, true, true}), WithLeases(9, {2, 0, true, false})},
                         {{0, 1}, {0, 0}, {1, 0}, {1, 0}},
                         Wait()},
                    Case{"GoToAnyWhereNoneCan",
                         {},
                         WithAnswerOf(9, kLate),
                         {WithLeases(8, {0, 0, true, true}), WithLeases(9, {2, 0, false, false})},
                         kFourIdle,
                         RunLine(kSuspects, 0)}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(Suspects, PredictiveSchedulerTable,
                         testing::Values(Case{"KeepTheIdlestWorker",
                                              {kEarly},
                                              kLate,
                                              {{0, 1, true, false}, {2, 0, true, false}},
                                              {{0, 1}, {0, 0}, {1, 0}, {1, 0}},
                                              SchedulerDecision::KeepWorker(1)},
                                         Case{"ABusyOneIfNeedBe",
                                              {kEarly},
                                              kLate,
                                              kBusyWorker,
                                              kBusyLane,
                                              SchedulerDecision::KeepWorker(0)},
                                         Case{"ButNoneThatIsToGo",
                                              {kEarly},
                                              kLate,
                                              {{0, 0, false, false}, {2, 1, true, false}},
                                              {{0, 0}, {0, 0}, {1, 1}, {1, 0}},
                                              SchedulerDecision::KeepWorker(1)},
                                         Case{
                                             "WaitWhereThereIsNoWorker", {}, kLate, {}, {}, Wait()},
                                         Case{"RunOnTheFirstLaneOfTheKeptWorker",
                                              {kEarly},
                                              kLate,
                                              {{0, 0, true, false}, {2, 0, true, true}},
                                              kFourIdle,
                                              RunLine(kSuspects, 2)},
                                         Case{"WaitUntilTheKeptWorkerIsEmpty",
                                              {},
                                              kLate,
                                              {{0, 1, true, true}},
                                              {{0, 1}, {0, 0}},
                                              Wait()},
                                         Case{"WaitUntilTheKeptWorkerHasOutputRoom",
                                              {},
                                              kLate,
                                              {{0, 0, true, true, false}},
                                              kIdleLane,
                                              Wait()},
                                         Case{"OthersGoElsewhereMeanwhile",
                                              {kEarly},
                                              kLate,
                                              {{0, 1, true, true}, {2, 1, true, false}},
                                              {{0, 1}, {0, 0}, {1, 1}, {1, 0}},
                                              RunLine(0, 3)},
                                         Case{"AKeptWorkerThatIsToGoIsReplaced",
                                              {},
                                              kLate,
                                              {{0, 1, false, true}, {2, 1, true, false}},
                                              {{0, 1}, {0, 0}, {1, 1}, {1, 0}},
                                              SchedulerDecision::KeepWorker(1)},
                                         Case{"ExpiredOnesAreDropped",
                                              {kEarly},
                                              kExpired,
                                              {{0, 0, true, true}},
                                              kIdleLane,
                                              SchedulerDecision::Drop(kSuspects, kNow)},
                                         Case{"TheLastOneHasTheWorkerToItself",
                                              {kEarly},
                                              kEmpty,
                                              {{0, 1, true, true}},
                                              {{0, 1}, {0, 0}},
                                              Wait(),
                                              2},
                                         Case{"ThenOthersMayHaveTheWorker",
                                              {kEarly},
                                              kEmpty,
                                              {{0, 0, true, true}},
                                              {{0, 0}, {0, 0}},
                                              RunLine(0, 0)}),
                         NameOf);

// A line whose head is of that rank.
LineView OfRank(uint32_t rank, LineView line) {
  line.rank = rank;
  return line;
}

SchedulerDecision DecideFor(const std::vector<LineView>& lines, int64_t max_delay_ns = 0) {
  return PredictiveScheduler(1, max_delay_ns)
      .Decide({lines, kEmpty, kIdleLane, kIdleWorker, kMaxRows}, kNow);
}

TEST(PredictiveScheduler, TheLowestRankGoesBeforeTheEarliestDeadline) {
  EXPECT_EQ(DecideFor({OfRank(2, kEarly), OfRank(1, kLate)}), RunLine(1, 0));
  EXPECT_EQ(DecideFor({OfRank(1, kLate), OfRank(1, kEarly)}), RunLine(1, 0));
}

TEST(PredictiveScheduler, InARankTheTenantThatHasHadTheLeastGoesBeforeTheEarliestDeadline) {
  LineView of_greedy = OfRank(1, kEarly);
  of_greedy.head_served_ns = 2;
  LineView of_modest = OfRank(1, kLate);
  of_modest.head_served_ns = 1;
  EXPECT_EQ(DecideFor({of_greedy, of_modest}), RunLine(1, 0));
  EXPECT_EQ(DecideFor({OfRank(0, of_greedy), of_modest}), RunLine(0, 0));
}

TEST(PredictiveScheduler, ExpiredRequestsOfALaterRankAreDroppedBeforeTheyFillABatch) {
  LineView line = kEarly;
  line.later_rows = 1;
  line.later_rank = 3;
  line.later_deadline_ns = kNow;
  EXPECT_EQ(DecideFor({line}), SchedulerDecision::Drop(0, kNow, 3));
  line.later_deadline_ns = kNow + 1;
  EXPECT_EQ(DecideFor({line}), RunLine(0, 0));
  EXPECT_EQ(DecideFor({OfRank(5, kExpired)}), SchedulerDecision::Drop(0, kNow, 5));
}

TEST(PredictiveScheduler, RowsOfAllRanksFillABatch) {
  LineView line = kYoung;
  EXPECT_EQ(DecideFor({line}, kDelay), Wait(line.head_arrival_ns + kDelay));
  line.later_rows = 1;
  EXPECT_EQ(DecideFor({line}, kDelay), RunLine(0, 0)) << "it is full";
}

// With 2 and 3 as preferred sizes.
SchedulerDecision DecidePreferred(const LineView& line, int64_t max_delay_ns = 0,
                                  int64_t now_ns = kNow) {
  return PredictiveScheduler(1, max_delay_ns, {2, 3})
      .Decide({{&line, 1}, kEmpty, kIdleLane, kIdleWorker, kMaxRows}, now_ns);
}

TEST(PredictiveScheduler, ABatchHasTheLargestPreferredSizeThatIsFilled) {
  LineView line = kLate;
  const std::pair<uint32_t, uint32_t> rows[] = {{1, kMaxRows}, {2, 2}, {3, 3}, {4, 3}, {9, 3}};
  for (const auto& [waiting, wanted] : rows) {
    line.rows = waiting;
    EXPECT_EQ(DecidePreferred(line), SchedulerDecision::Run(0, 0, wanted)) << waiting;
  }
  line.rows = 9;
  line.head_rows = 4;
  EXPECT_EQ(DecidePreferred(line), RunLine(0, 0)) << "the head alone is larger";
}

TEST(PredictiveScheduler, APreferredSizeDoesNotWaitForTheDelay) {
  LineView line = {1, 1, kNow, kNow + 1000};
  EXPECT_EQ(DecidePreferred(line, kDelay), Wait(kNow + kDelay));
  line.rows = 2;
  EXPECT_EQ(DecidePreferred(line, kDelay), SchedulerDecision::Run(0, 0, 2));
}

TEST(PredictiveScheduler, AfterTheDelayAllWhoWaitRun) {
  const LineView line = {4, 1, kNow, kNow + 1000};
  EXPECT_EQ(DecidePreferred(line, kDelay), SchedulerDecision::Run(0, 0, 3));
  EXPECT_EQ(DecidePreferred(line, kDelay, kNow + kDelay), RunLine(0, 0));
}

TEST(PredictiveScheduler, TakesAnyNumberOfLanes) {
  std::vector<WorkerView> workers;
  std::vector<LaneView> lanes;
  for (uint32_t worker = 0; worker < kMaxWorkers; ++worker) {
    workers.push_back({worker * kMaxLanes, kMaxLanes, true, false});
    for (uint32_t lane = 0; lane < kMaxLanes; ++lane) lanes.push_back({worker, 1});
  }
  workers.back().batches = kMaxLanes - 1;
  lanes.back().batches = 0;
  const SchedulerSnapshot snapshot = {{&kLate, 1}, kEmpty, lanes, workers, kMaxRows};
  EXPECT_EQ(PredictiveScheduler(1, 0).Decide(snapshot, kNow),
            RunLine(0, kMaxWorkers * kMaxLanes - 1));
}

// One lane, one line, and a curve: a batch of n rows takes 1000 + 100 n.
class PredictiveSchedulerCurve : public testing::Test {
 protected:
  static constexpr uint32_t kRows = 16;

  PredictiveSchedulerCurve() {
    for (int i = 0; i < 50; ++i) {
      curve_.Note(1, 1100);
      curve_.Note(8, 1800);
      curve_.Note(kRows, 2600);
    }
  }

  LineView Line(uint32_t rows, int64_t time_ns, uint32_t head_rows = 1) const {
    const int64_t deadline_ns = kNow + time_ns;
    return {rows, head_rows, kNow, deadline_ns, deadline_ns, deadline_ns, &curve_};
  }

  SchedulerDecision Decide(const std::vector<LineView>& lines, ExpectedReturns returns = {},
                           int64_t max_delay_ns = 0) const {
    return PredictiveScheduler(2, max_delay_ns)
        .Decide({.lines = lines,
                 .lanes = lanes_,
                 .workers = workers_,
                 .max_batch_rows = kRows,
                 .usual_batch_rows = usual_rows_,
                 .returns = returns},
                kNow);
  }

  LatencyCurve curve_;
  uint32_t usual_rows_ = 1;
  std::vector<WorkerView> workers_ = kIdleWorker;
  std::vector<LaneView> lanes_ = kIdleLane;
};

constexpr int64_t kLong = 1'000'000;

TEST_F(PredictiveSchedulerCurve, ABatchIsNotLargerThanItsHeadBears) {
  EXPECT_EQ(Decide({Line(12, 1500)}), SchedulerDecision::Run(0, 0, 5));
  EXPECT_EQ(Decide({Line(12, kLong)}), SchedulerDecision::Run(0, 0, kRows));
}

TEST_F(PredictiveSchedulerCurve, ABusyLaneGetsAFullBatchThatItsHeadBearsThen) {
  workers_ = kBusyWorker;
  lanes_ = {{0, 1, kNow + 1000}};
  EXPECT_EQ(Decide({Line(kRows, 4000)}), SchedulerDecision::Run(0, 0, kRows));
  EXPECT_EQ(Decide({Line(kRows, 3000)}), Wait()) << "the lane is free in 1000, a batch takes 2600";
  EXPECT_EQ(Decide({Line(kRows, 1500)}), Wait()) << "nobody is dropped before their time";
  EXPECT_EQ(Decide({Line(kRows - 1, kLong)}, {1, kNow + 500}), Wait());
}

TEST_F(PredictiveSchedulerCurve, ABatchHasNoMoreRowsThanPay) {
  LatencyCurve straight;
  for (int i = 0; i < 50; ++i) {
    straight.Note(1, 1000);
    straight.Note(2, 1500);
    straight.Note(kRows, 12'000);
  }
  LineView line = Line(12, kLong);
  line.curve = &straight;
  EXPECT_EQ(Decide({line}), SchedulerDecision::Run(0, 0, 2));
  line.head_rows = 3;
  EXPECT_EQ(Decide({line}), SchedulerDecision::Run(0, 0, 3)) << "a request is not divided";
  line.head_rows = 1;
  EXPECT_EQ(Decide({line}, {4, kNow + 500}), SchedulerDecision::Run(0, 0, 2)) << "for whom?";
  line.head_arrival_ns = kNow - kDelay;
  EXPECT_EQ(Decide({line}, {}, kDelay), SchedulerDecision::Run(0, 0, kRows)) << "the user decides";
  workers_ = kBusyWorker;
  lanes_ = {{0, 1, kNow + 1000}};
  EXPECT_EQ(Decide({line}), SchedulerDecision::Run(0, 0, 2)) << "a busy lane's next one is full";
}

TEST_F(PredictiveSchedulerCurve, ABatchHasNoMoreRowsThanItsLineMay) {
  LineView line = Line(12, kLong);
  line.most_rows = 3;
  EXPECT_EQ(Decide({line}), SchedulerDecision::Run(0, 0, 3));
  line.curve = nullptr;
  EXPECT_EQ(Decide({line}), SchedulerDecision::Run(0, 0, 3));
  EXPECT_EQ(Decide({line}, {}, kDelay), SchedulerDecision::Run(0, 0, 3)) << "it is full";
  EXPECT_EQ(Decide({Line(8, kLong)}, {8, kNow + 500}), SchedulerDecision::WaitUntil(kNow + 500));
  line = Line(8, kLong);
  line.most_rows = 8;
  EXPECT_EQ(Decide({line}, {8, kNow + 500}), SchedulerDecision::Run(0, 0, 8)) << "for whom?";
}

TEST_F(PredictiveSchedulerCurve, AHeadThatIsTooLateGoesForThoseBehindIt) {
  const LineView line = Line(2, 1050);
  EXPECT_EQ(Decide({line}), SchedulerDecision::Drop(0, line.head_deadline_ns));
}

TEST_F(PredictiveSchedulerCurve, AHeadThatIsTooLateIsTriedWhenNobodyIsBehindIt) {
  EXPECT_EQ(Decide({Line(1, 1050)}), SchedulerDecision::Run(0, 0, 1));
  EXPECT_EQ(Decide({Line(3, 1250, 3)}), SchedulerDecision::Run(0, 0, 3));
}

TEST_F(PredictiveSchedulerCurve, TheWaitMayEndBeforeTheAnswerHasToCome) {
  LineView line = Line(2, 1050);
  line.head_answer_deadline_ns = kNow + kLong;
  EXPECT_EQ(Decide({line}), SchedulerDecision::Run(0, 0, kRows));
}

// Eight at once take 1800; sixteen take 2600, and the wait.
TEST_F(PredictiveSchedulerCurve, ItWaitsForClientsThatDoubleABatch) {
  EXPECT_EQ(Decide({Line(8, kLong)}, {8, kNow + 500}), SchedulerDecision::WaitUntil(kNow + 500));
}

TEST_F(PredictiveSchedulerCurve, ItDoesNotWaitForClientsThatComeTooLate) {
  EXPECT_EQ(Decide({Line(8, kLong)}, {8, kNow + 1000}), SchedulerDecision::Run(0, 0, kRows));
}

// They may take no longer than eight, as far as is known.
TEST_F(PredictiveSchedulerCurve, ItWaitsToTryASizeThatWasNeverSeen) {
  curve_ = {};
  for (int i = 0; i < 50; ++i) {
    curve_.Note(1, 1100);
    curve_.Note(8, 1800);
  }
  EXPECT_EQ(Decide({Line(8, kLong)}, {8, kNow + 1000}), SchedulerDecision::WaitUntil(kNow + 1000));
  EXPECT_EQ(Decide({Line(8, kLong)}, {8, kNow + 1800}), SchedulerDecision::Run(0, 0, kRows));
}

// Sixteen take 2600 and until the last of them is back; two halves take 3600.
TEST_F(PredictiveSchedulerCurve, ItDoesNotWaitWhereTwoHalvesInTurnAreFaster) {
  ExpectedReturns returns = {8, kNow + 500, 16, 500};
  EXPECT_EQ(Decide({Line(8, kLong)}, returns), SchedulerDecision::WaitUntil(kNow + 500));
  returns.round_ns = 1000;
  EXPECT_EQ(Decide({Line(8, kLong)}, returns), SchedulerDecision::Run(0, 0, kRows));
  returns = {8, kNow + 500, 8, 500, 400};
  EXPECT_EQ(Decide({Line(8, kLong)}, returns), SchedulerDecision::Run(0, 0, kRows))
      << "twice as many clients take longer to come back";
}

// Two take 1200 and so little longer than one; four would have to wait for too long.
TEST_F(PredictiveSchedulerCurve, ARequestThatIsAloneWaitsForOneMore) {
  EXPECT_EQ(Decide({Line(1, kLong)}, {3, kNow + 2400}), SchedulerDecision::WaitUntil(kNow + 2400));
  EXPECT_EQ(Decide({Line(1, kLong)}, {3, kNow + 9000}), SchedulerDecision::Run(0, 0, kRows));
}

TEST_F(PredictiveSchedulerCurve, ItDoesNotWaitForAFewMore) {
  EXPECT_EQ(Decide({Line(8, kLong)}, {1, kNow + 500}), SchedulerDecision::Run(0, 0, kRows));
}

TEST_F(PredictiveSchedulerCurve, ItDoesNotWaitForNobody) {
  EXPECT_EQ(Decide({Line(8, kLong)}, {0, kNow + 500}), SchedulerDecision::Run(0, 0, kRows));
  EXPECT_EQ(Decide({Line(8, kLong)}, {8, kNow}), SchedulerDecision::Run(0, 0, kRows));
}

TEST_F(PredictiveSchedulerCurve, ItDoesNotWaitWithAFullBatch) {
  EXPECT_EQ(Decide({Line(kRows, kLong)}, {16, kNow + 1}), SchedulerDecision::Run(0, 0, kRows));
}

TEST_F(PredictiveSchedulerCurve, ItDoesNotWaitAtTheCostOfTheHeadsDeadline) {
  EXPECT_EQ(Decide({Line(8, 3000)}, {8, kNow + 500}), SchedulerDecision::Run(0, 0, kRows));
  LineView line = Line(8, kLong);
  line.head_deadline_ns = kNow + 500;
  EXPECT_EQ(Decide({line}, {8, kNow + 500}), SchedulerDecision::Run(0, 0, kRows));
}

TEST_F(PredictiveSchedulerCurve, ItDoesNotWaitWhileAnotherLaneIsFreeOrAnotherLineWaits) {
  EXPECT_EQ(Decide({Line(8, kLong), Line(1, kLong + 1)}, {8, kNow + 500}),
            SchedulerDecision::Run(0, 0, kRows));
  lanes_.push_back({0, 0});
  EXPECT_EQ(Decide({Line(8, kLong)}, {8, kNow + 500}), SchedulerDecision::Run(0, 0, kRows));
}

TEST_F(PredictiveSchedulerCurve, AFreeLaneKeepsAStepBehindTheOthers) {
  LatencyCurve slow;
  for (int i = 0; i < 50; ++i) {
    slow.Note(1, 1'100'000);
    slow.Note(8, 1'800'000);
  }
  LineView line = Line(1, 1000 * kLong);
  line.curve = &slow;
  lanes_.push_back({0, 1, kNow + 1'000'000});
  usual_rows_ = 4;
  EXPECT_EQ(Decide({line}), SchedulerDecision::WaitUntil(kNow + 1'000'000 + 525'000 - 1'100'000))
      << "three quarters of 1.4 ms / 2";
  EXPECT_EQ(Decide({line, Line(1, 2000 * kLong)}).step, SchedulerDecision::Step::kRun);
  line.rows = kRows;
  EXPECT_EQ(Decide({line}).step, SchedulerDecision::Step::kRun) << "a full batch";
  line.rows = 1;
  line.head_arrival_ns = kNow - kDelay;
  EXPECT_EQ(Decide({line}, {}, kDelay).step, SchedulerDecision::Step::kRun) << "the user's delay";
}

TEST_F(PredictiveSchedulerCurve, AUserWhoSetTheDelayHasDecidedIt) {
  LineView line = Line(8, kLong);
  line.head_arrival_ns = kNow - kDelay;
  EXPECT_EQ(Decide({line}, {8, kNow + 500}, kDelay), SchedulerDecision::Run(0, 0, kRows));
}

}  // namespace
}  // namespace mpsd
