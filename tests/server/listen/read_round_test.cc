#include "server/listen/read_round.h"

#include <gtest/gtest.h>

namespace mpsd {
namespace {

TEST(ReadRound, ARoundThatNeverFindsNothingIsEndedByTwoReads) {
  ReadRound round;
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(round.MustPause());
    round.Took(ReadRound::kBytes - 1, 0);
    EXPECT_FALSE(round.MustPause());
    round.Took(1, 0);
    EXPECT_TRUE(round.MustPause()) << "ends what gRPC reads";
    round.FoundNothing();
    EXPECT_TRUE(round.MustPause()) << "ends the round";
    round.FoundNothing();
  }
  EXPECT_FALSE(round.MustPause());
}

TEST(ReadRound, ManyCallsEndItAsManyBytesDo) {
  ReadRound round;
  round.Took(100, ReadRound::kCalls - 1);
  EXPECT_FALSE(round.MustPause());
  round.Took(100, 1);
  EXPECT_TRUE(round.MustPause());
  EXPECT_EQ(round.most_bytes(), SIZE_MAX);
  round.FoundNothing();
  round.FoundNothing();
  round.Took(100, ReadRound::kCalls - 1);
  EXPECT_FALSE(round.MustPause());
  EXPECT_EQ(round.most_bytes(), ReadRound::kLittleBytes);
  round.FoundNothing();
  round.FoundNothing();
  EXPECT_EQ(round.most_bytes(), SIZE_MAX) << "that round was no longer busy";
}

TEST(ReadRound, ARoundThatEndsByItselfIsForgotten) {
  ReadRound round;
  round.Took(ReadRound::kBytes - 1, 0);
  round.FoundNothing();
  round.FoundNothing();
  round.Took(ReadRound::kBytes - 1, 0);
  EXPECT_FALSE(round.MustPause());
}

TEST(ReadRound, OneEmptyReadBetweenOthersDoesNotEndIt) {
  ReadRound round;
  round.Took(ReadRound::kBytes / 2, 0);
  round.FoundNothing();
  round.Took(ReadRound::kBytes / 2, 0);
  round.FoundNothing();
  EXPECT_TRUE(round.MustPause());
  round.FoundNothing();
  EXPECT_FALSE(round.MustPause()) << "the second empty read in a row has ended it";
}

}  // namespace
}  // namespace mpsd
