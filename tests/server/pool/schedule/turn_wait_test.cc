#include "server/pool/schedule/turn_wait.h"

#include <gtest/gtest.h>

namespace mpsd {
namespace {

TEST(TurnWait, IsWhatTheLastTurnsTook) {
  TurnWait wait;
  EXPECT_EQ(wait.mean_ns(), 0);
  for (int i = 0; i < 100; ++i) wait.Note(8000);
  EXPECT_NEAR(wait.mean_ns(), 8000, 10);
  wait.Note(0);
  EXPECT_NEAR(wait.mean_ns(), 7000, 10);
}

TEST(TurnWait, IsForgottenWhereNobodyElseIsBusy) {
  TurnWait wait;
  wait.Note(1'000'000'000);
  for (int i = 0; i < 100; ++i) wait.Note(0);
  EXPECT_LT(wait.mean_ns(), 1000);
}

TEST(TurnWait, WhoWaitedInVainSaysThatItTakesNoLess) {
  TurnWait wait;
  for (int i = 0; i < 100; ++i) wait.Note(8000);
  const int64_t before_ns = wait.mean_ns();
  wait.NoteInVain(100);
  EXPECT_EQ(wait.mean_ns(), before_ns);
  wait.NoteInVain(16000);
  EXPECT_NEAR(wait.mean_ns(), 9000, 10);
}

}  // namespace
}  // namespace mpsd
