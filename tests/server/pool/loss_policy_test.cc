#include "server/pool/loss_policy.h"

#include <gtest/gtest.h>

#include <string>

namespace mpsd {
namespace {

struct Case {
  std::string name;
  Loss loss;  // end, was alone, is suspect, has crashed before, dispatches, ...
  LossVerdict wanted;
};

constexpr WorkerEnd kKilled = WorkerEnd::kKilled;
constexpr WorkerEnd kCrashed = WorkerEnd::kCrashed;

class LossPolicy : public testing::TestWithParam<Case> {};

TEST_P(LossPolicy, Judges) { EXPECT_EQ(JudgeLoss(GetParam().loss), GetParam().wanted); }

INSTANTIATE_TEST_SUITE_P(
    Table, LossPolicy,
    testing::Values(
        Case{"AKilledWorkersRequestGoesAgain",
             {kKilled, false, false, false, 1, 0},
             LossVerdict::kAgain},
        Case{"ThoughItWasAlone", {kKilled, true, false, false, 1, 0}, LossVerdict::kAgain},
        Case{"TheSecondTimeAsASuspect",
             {kKilled, false, false, false, 2, 0},
             LossVerdict::kAgainSuspect},
        Case{"ASuspectStaysOne", {kKilled, true, true, false, 1, 0}, LossVerdict::kAgainSuspect},
        Case{"TheLastTimeItEnds",
             {kKilled, false, false, false, kMaxDispatches, 0},
             LossVerdict::kWorkerLost},
        Case{"ACrashMakesSuspects",
             {kCrashed, false, false, false, 1, 0},
             LossVerdict::kAgainSuspect},
        Case{"TheLastTimeItEndsAfterACrashToo",
             {kCrashed, false, true, false, kMaxDispatches, 0},
             LossVerdict::kWorkerLost},
        Case{"ACrashOfOneAloneIsNoStrikeYet",
             {kCrashed, true, false, false, 1, 0},
             LossVerdict::kAgainSuspect},
        Case{"TheSecondIsAStrike", {kCrashed, true, true, true, 2, 0}, LossVerdict::kStrike},
        Case{"TheSecondWithOthersIsNone",
             {kCrashed, false, true, true, 2, 0},
             LossVerdict::kAgainSuspect},
        Case{"AKillAfterACrashIsNone",
             {kKilled, true, true, true, 2, 0},
             LossVerdict::kAgainSuspect},
        Case{"TheFirstCrashAtTheLastDispatchIsNone",
             {kCrashed, true, true, false, kMaxDispatches, 0},
             LossVerdict::kWorkerLost},
        Case{"AStrikeThoughItHadItsChances",
             {kCrashed, true, true, true, kMaxDispatches, 0},
             LossVerdict::kStrike},
        Case{
            "AStrikeThoughItHasAnswers", {kCrashed, true, false, true, 1, 3}, LossVerdict::kStrike},
        Case{"AnAnswerOfTheWorkerThatIsGoneEndsIt",
             {kKilled, true, false, false, 1, 1},
             LossVerdict::kWorkerLost},
        Case{"NorIsItTriedAgainAfterACrash",
             {kCrashed, true, false, false, 1, 1},
             LossVerdict::kWorkerLost},
        Case{"APinnedRequestEndsWithItsLane",
             {kKilled, false, false, false, 1, 0, true},
             LossVerdict::kWorkerLost},
        Case{"APinnedRequestIsNoSuspect",
             {kCrashed, false, false, false, 1, 0, true},
             LossVerdict::kWorkerLost},
        Case{"APinnedRequestWhoseContentHasCrashedAnotherIsStruck",
             {kCrashed, true, false, true, 1, 0, true},
             LossVerdict::kStrike}),
    [](const testing::TestParamInfo<Case>& row) { return row.param.name; });

}  // namespace
}  // namespace mpsd
