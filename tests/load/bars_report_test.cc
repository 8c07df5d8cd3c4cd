#include "load_tests/bars/bars_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace mpsd::load {
namespace {

using testing::HasSubstr;
using testing::Not;

BarsOptions Options() {
  BarsOptions options;
  options.parts = {"rounds", "soak", "threads", "processes"};
  options.operators = {BarOperator::kLinear, BarOperator::kConv};
  options.rounds = {{31, 100}, {8, 100}};
  options.soak_operations = 2'000'000;
  options.counts = {1, 2};
  return options;
}

BarOutcome Outcome(RunCounts counts, double rate = 10) {
  BarOutcome outcome;
  outcome.host.device = "cpu";
  outcome.operators["linear"] = counts;
  outcome.rate = rate;
  outcome.first_fault = counts.faults() > 0 ? "lane 3" : "";
  return outcome;
}

PlannedBar Bar(uint64_t operations, const std::string& series = "", uint32_t lanes = 1) {
  PlannedBar bar;
  bar.name = "bar";
  bar.series = series;
  bar.lanes.lanes = lanes;
  bar.lanes.operations = operations;
  return bar;
}

class BarsReportTest : public testing::Test {
 protected:
  nlohmann::ordered_json Added(const PlannedBar& bar, const absl::StatusOr<BarOutcome>& outcome) {
    report_.Add(bar, outcome);
    return report_.Json("here")["bars"].back();
  }
  BarsReport report_{Options()};
};

TEST_F(BarsReportTest, ABarPassesWithAllItsOperationsAndNoFault) {
  EXPECT_EQ(Added(Bar(100), Outcome({8, 100, 3, 0, 0}))["verdict"], "PASS");
  EXPECT_TRUE(report_.passed());
  EXPECT_THAT(report_.LastLine(), HasSubstr("PASS"));
  EXPECT_EQ(report_.Json("here")["host"]["device"], "cpu");
}

TEST_F(BarsReportTest, AWrongAnswerFailsIt) {
  const auto bar = Added(Bar(100), Outcome({8, 100, 0, 1, 0}));
  EXPECT_EQ(bar["verdict"], "FAIL");
  EXPECT_EQ(bar["why"], "1 wrong, 0 failed: lane 3");
  EXPECT_FALSE(report_.passed());
  EXPECT_THAT(report_.LastLine(), HasSubstr("FAIL"));
}

TEST_F(BarsReportTest, AFailedRunFailsIt) {
  EXPECT_EQ(Added(Bar(100), Outcome({8, 100, 0, 0, 2}))["verdict"], "FAIL");
}

TEST_F(BarsReportTest, TooFewOperationsFailIt) {
  EXPECT_EQ(Added(Bar(100), Outcome({8, 99, 0, 0, 0}))["why"],
            "the time was over after 99 of 100 operations");
}

TEST_F(BarsReportTest, NothingRunFailsIt) {
  EXPECT_EQ(Added(Bar(0), Outcome({}))["why"], "nothing ran");
}

TEST_F(BarsReportTest, ACrashFailsItAndOthersGoOn) {
  EXPECT_EQ(Added(Bar(100), absl::AbortedError("signal 6"))["why"], "signal 6");
  EXPECT_EQ(Added(Bar(100), Outcome({8, 100, 0, 0, 0}))["verdict"], "PASS");
  EXPECT_FALSE(report_.passed());
  EXPECT_EQ(report_.Json("here")["verdict"], "FAIL");
}

TEST_F(BarsReportTest, WithoutABarNothingHasPassed) { EXPECT_FALSE(report_.passed()); }

TEST_F(BarsReportTest, RatesAreComparedWithTheFirstOfTheirSeries) {
  EXPECT_EQ(Added(Bar(0, "a"), Outcome({1, 9, 0, 0, 0}, 100))["ratio"], 1);
  EXPECT_EQ(Added(Bar(0, "b"), Outcome({1, 9, 0, 0, 0}, 10))["ratio"], 1);
  const auto bar = Added(Bar(0, "a", 4), Outcome({1, 9, 0, 0, 0}, 200));
  EXPECT_EQ(bar["ratio"], 2);
  EXPECT_EQ(bar["efficiency"], 0.5);
  EXPECT_FALSE(Added(Bar(9), Outcome({1, 9, 0, 0, 0})).contains("ratio"));
}

TEST_F(BarsReportTest, WithoutTheFirstRateThereIsNoRatio) {
  Added(Bar(0, "a"), absl::AbortedError("signal 6"));
  EXPECT_FALSE(Added(Bar(0, "a", 4), Outcome({1, 9, 0, 0, 0})).contains("ratio"));
}

TEST(BarOutcome, ProcessesOfOneBarAddUp) {
  BarOutcome joined;
  joined.Add(Outcome({1, 10, 0, 0, 0}, 5));
  joined.Add(Outcome({1, 20, 0, 1, 0}, 7));
  EXPECT_EQ(joined.all().warm, 30u);
  EXPECT_EQ(joined.all().wrong, 1u);
  EXPECT_EQ(joined.rate, 12);
  EXPECT_EQ(joined.first_fault, "lane 3");
}

TEST(PlanBars, HasTheBarsOfAllParts) {
  std::vector<std::string> names;
  for (const PlannedBar& bar : PlanBars(Options())) names.push_back(bar.name);
  EXPECT_THAT(names, testing::ElementsAre("31x100", "8x100", "soak", "layer_norm, 1 threads",
                                          "layer_norm, 2 threads", "layer_norm, 1 processes",
                                          "layer_norm, 2 processes", "linear, 1 threads",
                                          "linear, 2 threads", "linear, 1 processes",
                                          "linear, 2 processes"));
}

TEST(PlanBars, ARoundIsOneRunOfEachOperator) {
  const PlannedBar bar = PlanBars(Options())[0];
  EXPECT_EQ(bar.lanes.lanes, 31u);
  EXPECT_EQ(bar.lanes.operations, 31u * 100 * 2);
  EXPECT_EQ(bar.tasks.size(), 2u);
}

TEST(PlanBars, TheSoakHasManyShapesInRandomOrder) {
  const PlannedBar bar = PlanBars(Options())[2];
  EXPECT_EQ(bar.lanes.operations, 2'000'000u);
  EXPECT_TRUE(bar.lanes.has_random_order);
  std::set<std::string> tasks;
  for (const BarTask& task : bar.tasks) tasks.insert(Describe(task));
  EXPECT_EQ(tasks.size(), 8u);
}

TEST(PlanBars, ProcessesHaveOneLaneEach) {
  const PlannedBar bar = PlanBars(Options()).back();
  EXPECT_EQ(bar.processes, 2u);
  EXPECT_EQ(bar.lanes.lanes, 1u);
  EXPECT_EQ(bar.count(), 2u);
}

}  // namespace
}  // namespace mpsd::load
