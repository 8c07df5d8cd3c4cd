#include "server/listen/read_round.h"

#include <gtest/gtest.h>

namespace mpsd {
namespace {

TEST(ReadRound, ARoundThatNeverFindsNothingIsEndedByTwoReads) {
  ReadRound round;
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(round.MustPause());
    round.Took(ReadRound::kBytes - 1, 0, 0);
    EXPECT_FALSE(round.MustPause());
    round.Took(1, 0, 0);
    EXPECT_TRUE(round.MustPause()) << "ends what gRPC reads";
    round.FoundNothing(false);
    EXPECT_TRUE(round.MustPause()) << "ends the round";
    round.FoundNothing(false);
  }
  EXPECT_FALSE(round.MustPause());
}

TEST(ReadRound, ManyCallsEndItAsManyBytesDo) {
  ReadRound round;
  round.Took(100, ReadRound::kCalls - 1, 0);
  EXPECT_FALSE(round.MustPause());
  round.Took(100, 1, 0);
  EXPECT_TRUE(round.MustPause());
  EXPECT_EQ(round.most_bytes(), SIZE_MAX);
  round.FoundNothing(false);
  round.FoundNothing(false);
  round.Took(100, ReadRound::kFewCalls, 0);
  round.End();
  EXPECT_EQ(round.most_bytes(), ReadRound::kLittleBytes) << "many calls for so few bytes";
  round.Took(100, ReadRound::kFewCalls - 1, 0);
  EXPECT_FALSE(round.MustPause());
  EXPECT_EQ(round.most_bytes(), ReadRound::kLittleBytes);
  round.FoundNothing(false);
  round.FoundNothing(false);
  EXPECT_EQ(round.most_bytes(), SIZE_MAX) << "that round was no longer busy";
}

TEST(ReadRound, ARoundThatEndsByItselfIsForgotten) {
  ReadRound round;
  round.Took(ReadRound::kBytes - 1, 0, 0);
  round.FoundNothing(false);
  round.FoundNothing(false);
  round.Took(ReadRound::kBytes - 1, 0, 0);
  EXPECT_FALSE(round.MustPause());
}

TEST(ReadRound, OneEmptyReadBetweenOthersDoesNotEndIt) {
  ReadRound round;
  round.Took(ReadRound::kBytes / 2, 0, 0);
  round.FoundNothing(false);
  round.Took(ReadRound::kBytes / 2, 0, 0);
  round.FoundNothing(false);
  EXPECT_TRUE(round.MustPause());
  round.FoundNothing(false);
  EXPECT_FALSE(round.MustPause()) << "the second empty read in a row has ended it";
}

// A connection whose calls nobody counts, as over TLS: gRPC gets `first` bytes and uses them until
// `used_ns`.
ReadRound Timed(size_t first, int64_t used_ns) {
  ReadRound round(/*counts_calls=*/false);
  round.Took(first, 0, 0);
  EXPECT_TRUE(round.is_timed());
  round.Continue(0);
  EXPECT_EQ(round.MustPause(), first == ReadRound::kLittleBytes);
  if (round.MustPause()) round.FoundNothing(false);
  round.Continue(used_ns);
  return round;
}

TEST(ReadRound, AReadMayHaveMoreAfterOneThatWasCheap) {
  EXPECT_EQ(ReadRound(false).most_bytes(), ReadRound::kLittleBytes);
  const ReadRound cheap = Timed(ReadRound::kLittleBytes, ReadRound::kNs / 4 - 1);
  EXPECT_FALSE(cheap.MustPause());
  EXPECT_EQ(cheap.most_bytes(), ReadRound::kGrowth * ReadRound::kLittleBytes);
  const ReadRound dear = Timed(ReadRound::kLittleBytes, ReadRound::kNs / 4);
  EXPECT_FALSE(dear.MustPause());
  EXPECT_EQ(dear.most_bytes(), ReadRound::kLittleBytes);
}

TEST(ReadRound, CheapBytesDoNotMakeAReadLarge) {
  ReadRound round = Timed(ReadRound::kLittleBytes, 1);
  for (int i = 0; i < 5; ++i) {
    round.Took(round.most_bytes(), 0, i);
    ASSERT_TRUE(round.MustPause());
    round.FoundNothing(false);
    round.Continue(i);
  }
  EXPECT_EQ(round.most_bytes(), ReadRound::kMostCheapBytes);
  round.FoundNothing(/*was_empty=*/true);
  round.Took(1, 0, 10);
  EXPECT_EQ(round.most_bytes(), ReadRound::kLittleBytes - 1);
}

TEST(ReadRound, APieceOfAReadLeavesTheRest) {
  const ReadRound round = Timed(1000, ReadRound::kNs / 2);
  EXPECT_FALSE(round.MustPause()) << "gRPC may still be reading";
  EXPECT_EQ(round.most_bytes(), ReadRound::kLittleBytes - 1000);
}

TEST(ReadRound, ARoundThatKeepsGrpcBusyIsEnded) {
  ReadRound round = Timed(ReadRound::kLittleBytes, ReadRound::kNs - 1);
  EXPECT_FALSE(round.MustPause());
  round = Timed(ReadRound::kLittleBytes, ReadRound::kNs);
  EXPECT_TRUE(round.MustPause());
  round.FoundNothing(false);
  EXPECT_FALSE(round.MustPause());
  EXPECT_FALSE(round.is_timed()) << "the next round has its own time";
}

TEST(ReadRound, ARoundOfARestingConnectionIsNotLong) {
  ReadRound round(false);
  round.Took(1, 0, 0);
  round.FoundNothing(/*was_empty=*/true);
  round.Continue(100 * ReadRound::kNs);
  EXPECT_FALSE(round.MustPause()) << "nothing was there to be busy with";
  EXPECT_EQ(round.most_bytes(), ReadRound::kLittleBytes);
  for (uint64_t bytes = 1; bytes < ReadRound::kBytes; bytes += ReadRound::kLittleBytes) {
    round.Took(ReadRound::kLittleBytes, 0, 0);
    round.FoundNothing(true);
  }
  EXPECT_TRUE(round.MustPause()) << "gRPC adds the bytes up all the same";
}

TEST(ReadRound, OneWhoseFramesAreSeenIsNotTimed) {
  ReadRound round(false);
  round.SeesCalls();
  EXPECT_EQ(round.most_bytes(), SIZE_MAX);
  round.Took(1, 0, 0);
  EXPECT_FALSE(round.is_timed());
  round.End();
  EXPECT_EQ(round.most_bytes(), SIZE_MAX);
}

}  // namespace
}  // namespace mpsd
