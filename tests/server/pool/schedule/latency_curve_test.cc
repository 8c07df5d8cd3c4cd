#include "server/pool/schedule/latency_curve.h"

#include <gtest/gtest.h>

namespace mpsd {
namespace {

void NoteMany(LatencyCurve* curve, uint32_t rows, int64_t took_ns, int times = 50) {
  for (int i = 0; i < times; ++i) curve->Note(rows, took_ns);
}

TEST(LatencyCurve, IsUnknownUntilABatchWasNoted) {
  LatencyCurve curve;
  EXPECT_FALSE(curve.known());
  curve.Note(1, 100);
  EXPECT_TRUE(curve.known());
  EXPECT_EQ(curve.MeanNs(1), 100);
}

TEST(LatencyCurve, IsStraightBetweenWhatWasSeen) {
  LatencyCurve curve;
  NoteMany(&curve, 1, 1000);
  NoteMany(&curve, 5, 2000);
  EXPECT_EQ(curve.MeanNs(1), 1000);
  EXPECT_EQ(curve.MeanNs(3), 1500);
  EXPECT_EQ(curve.MeanNs(5), 2000);
}

TEST(LatencyCurve, GoesOnBeyondTheLargestAsItRises) {
  LatencyCurve curve;
  NoteMany(&curve, 8, 1000);
  EXPECT_EQ(curve.MeanNs(16), 1000) << "nobody knows better";
  NoteMany(&curve, 4, 600);
  EXPECT_EQ(curve.MeanNs(16), 1800);
}

TEST(LatencyCurve, BeyondTheLargestABatchMayTakeNoLonger) {
  LatencyCurve curve;
  NoteMany(&curve, 4, 600);
  NoteMany(&curve, 8, 1000);
  EXPECT_EQ(curve.LeastNs(16), 1000);
  EXPECT_EQ(curve.LeastNs(8), 1000);
  EXPECT_EQ(curve.LeastNs(6), 800);
  NoteMany(&curve, 16, 1700);
  EXPECT_EQ(curve.LeastNs(16), 1700) << "now it was seen";
}

TEST(LatencyCurve, BelowTheSmallestIsAtLeastInProportion) {
  LatencyCurve curve;
  NoteMany(&curve, 8, 1600);
  EXPECT_EQ(curve.MeanNs(2), 400);
  NoteMany(&curve, 16, 1600 + 8 * 10);
  EXPECT_EQ(curve.MeanNs(2), 1600 - 6 * 10);
}

TEST(LatencyCurve, NeverFalls) {
  LatencyCurve curve;
  NoteMany(&curve, 1, 100);
  NoteMany(&curve, 4, 500);
  NoteMany(&curve, 6, 300);
  NoteMany(&curve, 8, 900);
  for (uint32_t rows = 1; rows < 12; ++rows) {
    EXPECT_LE(curve.MeanNs(rows), curve.MeanNs(rows + 1)) << rows;
  }
  EXPECT_NEAR(curve.MeanNs(5), 400, 10) << "the mean of the two that would make it fall";
}

TEST(LatencyCurve, OneBatchThatHangsMovesItLittle) {
  LatencyCurve curve;
  NoteMany(&curve, 1, 1000);
  curve.Note(1, 1'000'000'000);
  EXPECT_LT(curve.MeanNs(1), 1250);
}

TEST(LatencyCurve, AModelThatBecameTenTimesSlowerIsKnownSoon) {
  LatencyCurve curve;
  NoteMany(&curve, 1, 1000);
  NoteMany(&curve, 1, 10'000, 32);
  EXPECT_GT(curve.MeanNs(1), 8000);
  NoteMany(&curve, 1, 1000, 64);
  EXPECT_LT(curve.MeanNs(1), 1300) << "and that it is fast again";
}

TEST(LatencyCurve, SizesOfAQuarterOfAnOctaveAreKeptApart) {
  LatencyCurve curve;
  for (const uint32_t rows : {9u, 11u, 13u, 15u, 17u, 512u, 1024u}) {
    NoteMany(&curve, rows, rows * 100);
  }
  for (const uint32_t rows : {9u, 11u, 13u, 15u, 17u, 512u, 1024u}) {
    EXPECT_EQ(curve.MeanNs(rows), rows * 100);
  }
}

TEST(LatencyCurve, IsLateByWhatBatchesDiffer) {
  LatencyCurve steady;
  NoteMany(&steady, 1, 1000);
  EXPECT_EQ(steady.LateNs(1), 1000);
  LatencyCurve unsteady;
  for (int i = 0; i < 100; ++i) unsteady.Note(1, i % 2 == 0 ? 800 : 1200);
  EXPECT_GT(unsteady.LateNs(1), 1150);
  EXPECT_LT(unsteady.LateNs(1), 1400);
}

TEST(LatencyCurve, ForgetsOtherSizesWhenAllBecameSlower) {
  LatencyCurve curve;
  NoteMany(&curve, 1, 1000);
  NoteMany(&curve, 8, 2000);
  NoteMany(&curve, 1, 20'000, 20);
  EXPECT_GT(curve.MeanNs(8), 10'000) << "though eight were not run since";
}

TEST(LatencyCurve, RemembersALargerSizeThatServesMoreRows) {
  LatencyCurve curve;
  NoteMany(&curve, 4, 1000);
  NoteMany(&curve, 16, 1500);
  NoteMany(&curve, 4, 1000, 10'000);
  EXPECT_EQ(curve.MeanNs(16), 1500);
}

TEST(LatencyCurve, ForgetsALargerSizeThatServesFewerRows) {
  LatencyCurve curve;
  NoteMany(&curve, 4, 1000);
  NoteMany(&curve, 16, 8000);
  EXPECT_EQ(curve.MeanNs(16), 8000);
  NoteMany(&curve, 4, 1000, 10'000);
  EXPECT_EQ(curve.MeanNs(16), 1000) << "so it is tried again";
}

TEST(LatencyCurve, OneSlowBatchOfALargerSizeIsForgottenSoon) {
  LatencyCurve curve;
  NoteMany(&curve, 4, 1000);
  NoteMany(&curve, 16, 8000, 2);  // the first does not count
  EXPECT_EQ(curve.MeanNs(16), 8000);
  NoteMany(&curve, 4, 1000, 150);
  EXPECT_EQ(curve.MeanNs(16), 1000) << "so it is tried again";
  NoteMany(&curve, 16, 8000, 20);
  NoteMany(&curve, 4, 1000, 1000);
  EXPECT_EQ(curve.MeanNs(16), 8000) << "many are remembered longer";
}

TEST(LatencyCurve, DoesNotCountTheFirstBatchOfASize) {
  LatencyCurve curve;
  NoteMany(&curve, 1, 1000);
  curve.Note(8, 90'000);
  EXPECT_EQ(curve.MeanNs(8), 1000);
  curve.Note(8, 2000);
  EXPECT_EQ(curve.MeanNs(8), 2000);
}

TEST(LatencyCurve, SaysHowManyRowsFit) {
  LatencyCurve curve;
  NoteMany(&curve, 1, 1000);
  NoteMany(&curve, 8, 1700);
  EXPECT_EQ(curve.RowsWithin(999, 64), 0u);
  EXPECT_EQ(curve.RowsWithin(1000, 64), 1u);
  EXPECT_EQ(curve.RowsWithin(1350, 64), 4u);
  EXPECT_EQ(curve.RowsWithin(1350, 4), 4u);
  EXPECT_EQ(curve.RowsWithin(1350, 3), 3u);
  EXPECT_EQ(curve.RowsWithin(1'000'000, 64), 64u);
}

}  // namespace
}  // namespace mpsd
