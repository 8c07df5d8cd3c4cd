#include "client/tune/tune_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace mpsd::tune {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

// The names of all that the plan tries on a host that serves `rate` of each.
std::vector<std::string> TriesOf(TunePlan* plan,
                                 const std::function<double(const Candidate&)>& rate) {
  std::vector<std::string> tries;
  while (const auto candidate = plan->Next()) {
    tries.push_back(CandidateText(*candidate));
    plan->Add(*candidate, rate(*candidate));
  }
  return tries;
}

double Same(const Candidate&) { return 100; }

TEST(TunePlan, VariesLanesAgainstThreadsWithinTheCores) {
  TunePlan plan({.cores = 8});
  EXPECT_THAT(TriesOf(&plan, Same),
              ElementsAre("as configured", "1 x 8 x 1", "1 x 4 x 2", "1 x 2 x 4", "1 x 1 x 8",
                          "2 x 4 x 1", "8 x 1 x 1"));
  EXPECT_EQ(plan.best(), Candidate()) << "nothing is better than what is there";
}

TEST(TunePlan, ProcessesAreTriedAtTheBestLanes) {
  TunePlan plan({.cores = 8});
  const auto tries = TriesOf(&plan, [](const Candidate& candidate) {
    return candidate.placement.lanes == 4 ? 200.0 : 100.0;
  });
  EXPECT_THAT(tries, Contains("2 x 2 x 2"));
  EXPECT_THAT(tries, Contains("4 x 1 x 2"));
  EXPECT_THAT(tries, Not(Contains("8 x 1 x 1")));
  EXPECT_EQ(CandidateText(*plan.best()), "1 x 4 x 2");
}

TEST(TunePlan, OneCoreHasOnePlacement) {
  TunePlan plan({.cores = 1});
  EXPECT_THAT(TriesOf(&plan, Same), ElementsAre("as configured", "1 x 1 x 1"));
}

TEST(TunePlan, DoesNotTryTwiceWhatIsConfigured) {
  TunePlan plan({.cores = 2, .configured = {1, 2, 1}});
  EXPECT_THAT(TriesOf(&plan, Same), Not(Contains("1 x 2 x 1")));
}

TEST(TunePlan, ALittleBetterIsNotBetter) {
  TunePlan plan({.cores = 2});
  TriesOf(&plan, [](const Candidate& candidate) { return candidate == Candidate() ? 100 : 104; });
  EXPECT_EQ(plan.best(), Candidate());
}

// As a host with other work makes one look better, once.
TEST(TunePlan, WhatSeemsBetterHasToShowItAgain) {
  TunePlan plan({.cores = 2});
  const Candidate lanes = {.placement = {1, 2, 1}};
  plan.Add({}, 100);
  plan.Add(lanes, 120);
  ASSERT_EQ(plan.Next(), Candidate()) << "the best so far comes first";
  plan.Add({}, 100);
  ASSERT_EQ(plan.Next(), lanes);
  plan.Add(lanes, 104);
  EXPECT_EQ(plan.best(), Candidate());
}

// Or the other one worse.
TEST(TunePlan, TheBestIsWhatItsSecondTrySays) {
  TunePlan plan({.cores = 2});
  const Candidate lanes = {.placement = {1, 2, 1}};
  const Candidate threads = {.placement = {1, 1, 2}};
  plan.Add({}, 100);
  plan.Add(lanes, 120);
  plan.Add({}, 120);
  plan.Add(lanes, 120);
  EXPECT_EQ(plan.best(), Candidate());
  plan.Add(threads, 125);
  EXPECT_NE(plan.Next(), Candidate()) << "125 is no better than 120";
}

TEST(TunePlan, WhatIsBetterTwiceIsTheBest) {
  TunePlan plan({.cores = 2});
  const Candidate lanes = {.placement = {1, 2, 1}};
  plan.Add({}, 100);
  plan.Add(lanes, 110);
  EXPECT_EQ(plan.best(), Candidate());
  plan.Add({}, 100);
  plan.Add(lanes, 120);
  EXPECT_EQ(plan.best(), lanes);
  plan.Add({.placement = {1, 1, 2}}, 115);
  EXPECT_EQ(CandidateText(*plan.Next()), "2 x 1 x 1");
}

TEST(TunePlan, WhatIsFarBetterIsTakenAtOnce) {
  TunePlan plan({.cores = 2});
  const Candidate lanes = {.placement = {1, 2, 1}};
  plan.Add({}, 100);
  plan.Add(lanes, 126);
  EXPECT_EQ(plan.best(), lanes);
  EXPECT_EQ(CandidateText(*plan.Next()), "1 x 1 x 2");
}

TEST(TunePlan, NothingIsBestWhereNothingServes) {
  TunePlan plan({.cores = 2});
  EXPECT_THAT(TriesOf(&plan, [](const Candidate&) { return 0; }),
              ElementsAre("as configured", "1 x 2 x 1", "1 x 1 x 2"));
  EXPECT_EQ(plan.best(), std::nullopt);
}

TEST(TunePlan, CapsGoOnInTheDirectionThatIsBetter) {
  TunePlan plan({.cores = 1, .max_batch_size = 64});
  const auto tries = TriesOf(&plan, [](const Candidate& candidate) {
    return candidate.max_batch_size == 0 ? 100.0 : 10000.0 / candidate.max_batch_size;
  });
  EXPECT_THAT(tries, ElementsAre("as configured", "1 x 1 x 1", "as configured, batch 128",
                                 "as configured, batch 16", "as configured, batch 32",
                                 "as configured, batch 4", "as configured, batch 8",
                                 "as configured, batch 1", "as configured, batch 2"));
  EXPECT_EQ(plan.best()->max_batch_size, 1u);
}

TEST(TunePlan, AHigherCapThatIsBetterIsDoubled) {
  TunePlan plan({.cores = 1, .max_batch_size = 64});
  const auto tries = TriesOf(&plan, [](const Candidate& candidate) {
    return candidate.max_batch_size == 128 ? 200.0 : 100.0;
  });
  EXPECT_THAT(tries, ElementsAre("as configured", "1 x 1 x 1", "as configured, batch 128",
                                 "as configured, batch 16", "as configured, batch 256"));
}

TEST(TunePlan, NoCapIsBelowARequestOrAboveTheMost) {
  TunePlan plan({.cores = 1, .max_batch_size = 1024, .rows = 300});
  EXPECT_THAT(TriesOf(&plan, Same), ElementsAre("as configured", "1 x 1 x 1"));
}

TEST(TunePlan, LearnsOfTheModelFromTheFirst) {
  TunePlan plan({.cores = 8});
  plan.Learn("cuda:0", 8);
  EXPECT_THAT(
      TriesOf(&plan, Same),
      ElementsAre("as configured", "1 x 8 x 1", "1 x 4 x 1", "1 x 2 x 1", "1 x 1 x 1", "2 x 8 x 1",
                  "2 x 4 x 1", "as configured, batch 16", "as configured, batch 2"));
}

TEST(TunePlan, OfSeveralDevicesAllAreUsed) {
  TunePlan plan({.cores = 8, .device = "cuda:0,1,2"});
  EXPECT_THAT(TriesOf(&plan, Same),
              ElementsAre("as configured", "3 x 8 x 1", "3 x 4 x 1", "3 x 2 x 1", "3 x 1 x 1",
                          "6 x 8 x 1", "6 x 4 x 1"));
}

TEST(TunePlan, AMacsGpuGetsFewLanesAndSomeProcesses) {
  TunePlan plan({.cores = 8, .device = "mps"});
  EXPECT_THAT(TriesOf(&plan, Same), ElementsAre("as configured", "1 x 2 x 1", "1 x 1 x 1",
                                                "2 x 2 x 1", "2 x 1 x 1", "3 x 1 x 1"));
}

TEST(TunePlan, PrecisionsComeLastAndOnlyWhereAskedFor) {
  TunePlan plan({.cores = 1, .precisions = {"bf16"}});
  EXPECT_THAT(TriesOf(&plan, Same),
              ElementsAre("as configured", "1 x 1 x 1", "as configured, bf16"));
}

TEST(TunePlan, NamesWhatIsLeft) {
  TunePlan plan({.cores = 4, .precisions = {"bf16"}});
  plan.Add({}, 100);
  plan.Add({.placement = {1, 4, 1}}, 200);
  std::vector<std::string> rest;
  for (const Candidate& candidate : plan.Rest()) rest.push_back(CandidateText(candidate));
  EXPECT_THAT(rest,
              ElementsAre("1 x 2 x 2", "1 x 1 x 4", "2 x 2 x 1", "4 x 1 x 1", "1 x 4 x 1, bf16"));
  EXPECT_EQ(CandidateText(*plan.Next()), "1 x 2 x 2") << "the plan itself goes on";
}

TEST(TunePlan, WhatWasToBeTriedAgainIsNotLeft) {
  TunePlan plan({.cores = 2});
  const auto others = ElementsAre(Candidate{.placement = {1, 1, 2}},  //
                                  Candidate{.placement = {2, 1, 1}});
  plan.Add({}, 100);
  plan.Add({.placement = {1, 2, 1}}, 110);
  EXPECT_THAT(plan.Rest(), others);
  plan.Add({}, 100);
  EXPECT_THAT(plan.Rest(), others);
  EXPECT_EQ(plan.best(), Candidate());
}

}  // namespace
}  // namespace mpsd::tune
