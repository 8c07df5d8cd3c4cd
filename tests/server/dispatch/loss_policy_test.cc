#include "server/dispatch/loss_policy.h"

#include <gtest/gtest.h>

#include <string>

namespace mpsd {
namespace {

struct Case {
  std::string name;
  Loss loss;  // end, was alone, is suspect, dispatches, answers, is pinned
  LossVerdict wanted;
};

constexpr WorkerEnd kKilled = WorkerEnd::kKilled;
constexpr WorkerEnd kCrashed = WorkerEnd::kCrashed;

class LossPolicy : public testing::TestWithParam<Case> {};

TEST_P(LossPolicy, Judges) { EXPECT_EQ(JudgeLoss(GetParam().loss), GetParam().wanted); }

INSTANTIATE_TEST_SUITE_P(
    Table, LossPolicy,
    testing::Values(
        Case{"AKilledWorkersRequestGoesAgain", {kKilled, false, false, 1, 0}, LossVerdict::kAgain},
        Case{"ThoughItWasAlone", {kKilled, true, false, 1, 0}, LossVerdict::kAgain},
        Case{"TheSecondTimeAsASuspect", {kKilled, false, false, 2, 0}, LossVerdict::kAgainSuspect},
        Case{"ASuspectStaysOne", {kKilled, true, true, 1, 0}, LossVerdict::kAgainSuspect},
        Case{"TheLastTimeItEnds",
             {kKilled, false, false, kMaxDispatches, 0},
             LossVerdict::kWorkerLost},
        Case{"ACrashMakesSuspects", {kCrashed, false, false, 1, 0}, LossVerdict::kAgainSuspect},
        Case{"TheLastTimeItEndsAfterACrashToo",
             {kCrashed, false, true, kMaxDispatches, 0},
             LossVerdict::kWorkerLost},
        Case{"ACrashOfOneAloneIsAStrike", {kCrashed, true, false, 1, 0}, LossVerdict::kStrike},
        Case{"AStrikeThoughItHadItsChances",
             {kCrashed, true, true, kMaxDispatches, 0},
             LossVerdict::kStrike},
        Case{"AStrikeThoughItHasAnswers", {kCrashed, true, false, 1, 3}, LossVerdict::kStrike},
        Case{"AnAnswerOfTheWorkerThatIsGoneEndsIt",
             {kKilled, true, false, 1, 1},
             LossVerdict::kWorkerLost},
        Case{"APinnedRequestEndsWithItsLane",
             {kKilled, false, false, 1, 0, true},
             LossVerdict::kWorkerLost},
        Case{"APinnedRequestIsNoSuspect",
             {kCrashed, false, false, 1, 0, true},
             LossVerdict::kWorkerLost},
        Case{"APinnedRequestThatCrashesItsWorkerAloneIsStruck",
             {kCrashed, true, false, 1, 0, true},
             LossVerdict::kStrike}),
    [](const testing::TestParamInfo<Case>& row) { return row.param.name; });

}  // namespace
}  // namespace mpsd
