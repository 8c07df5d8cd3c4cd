#include "server/pool/schedule/slowness.h"

#include <gtest/gtest.h>

#include <vector>

#include "proto/base/clock.h"

namespace mpsd {
namespace {

void NoteRuns(Slowness* slowness, size_t runs, double factor) {
  for (size_t i = 0; i < runs; ++i) {
    slowness->Note(10 * kNsPerMs, static_cast<int64_t>(10 * kNsPerMs * factor));
  }
}

TEST(Slowness, IsUnknownUntilEnoughBatchesWereNoted) {
  Slowness slowness;
  NoteRuns(&slowness, Slowness::kRuns - 1, 3);
  EXPECT_FALSE(slowness.known());
  NoteRuns(&slowness, 1, 3);
  EXPECT_TRUE(slowness.known());
}

TEST(Slowness, IsWhatBatchesTakeAsAMultipleOfTheCurve) {
  Slowness slowness;
  NoteRuns(&slowness, Slowness::kRuns, 3);
  EXPECT_NEAR(slowness.ratio(), 3, 0.02);
  EXPECT_NEAR(slowness.last(), 3, 0.02);
}

TEST(Slowness, FewerThanHalfOfItsRunsSayNothing) {
  Slowness slowness;
  NoteRuns(&slowness, Slowness::kRuns, 1);
  NoteRuns(&slowness, Slowness::kRuns / 2, 1000);
  EXPECT_NEAR(slowness.ratio(), 1, 0.02) << "however long they took";
  NoteRuns(&slowness, 1, 1000);
  EXPECT_GT(slowness.ratio(), 900);
}

TEST(Slowness, ForgetsWhatIsLongAgo) {
  Slowness slowness;
  NoteRuns(&slowness, 100, 5);
  NoteRuns(&slowness, Slowness::kRuns / 2 + 1, 1);
  EXPECT_NEAR(slowness.ratio(), 1, 0.02);
}

TEST(Slowness, ADelayThatAnyProcessMayHaveIsNotTheWorkers) {
  Slowness slowness;
  for (size_t i = 0; i < Slowness::kRuns; ++i) {
    slowness.Note(50'000, 50'000 + Slowness::kNoiseNs);
  }
  EXPECT_EQ(slowness.ratio(), 1);
  for (size_t i = 0; i < Slowness::kRuns; ++i) {
    slowness.Note(50'000, 150'000 + Slowness::kNoiseNs);
  }
  EXPECT_EQ(slowness.ratio(), 3);
}

TEST(Slowness, WhoIsFasterThanTheCurveIsSeenToBe) {
  Slowness slowness;
  NoteRuns(&slowness, Slowness::kRuns, 0.5);
  EXPECT_NEAR(slowness.ratio(), 0.5, 0.01);
}

double UsualOf(std::vector<double> ratios) { return UsualRatio(absl::MakeSpan(ratios)); }

TEST(UsualRatio, IsTheLowerMiddle) {
  EXPECT_EQ(UsualOf({4}), 4);
  EXPECT_EQ(UsualOf({4, 1}), 1);
  EXPECT_EQ(UsualOf({9, 1, 2}), 2);
  EXPECT_EQ(UsualOf({9, 1, 8, 2}), 2);
}

TEST(SlownessOf, BeginsAtTwiceTheUsualAndEndsBelow) {
  EXPECT_EQ(SlownessOf(1.99, 1, false), 1);
  EXPECT_EQ(SlownessOf(2, 1, false), 2);
  EXPECT_EQ(SlownessOf(1.5, 1, true), 1.5);
  EXPECT_EQ(SlownessOf(1.49, 1, true), 1);
}

TEST(SlownessOf, ComparesWithTheOthersAndNotWithTheCurve) {
  EXPECT_EQ(SlownessOf(6, 6, false), 1) << "all have become slow: the model has";
  EXPECT_EQ(SlownessOf(1.5, 0.5, false), 3) << "the curve is the mean of a slow and a fast one";
}

TEST(SlownessOf, NeverAllAreSlow) {
  for (const std::vector<double>& ratios :
       {std::vector<double>{1}, {100, 1}, {5, 5}, {1, 50, 70}, {3, 9, 27, 81}}) {
    const double usual = UsualOf(ratios);
    size_t slow = 0;
    for (const double ratio : ratios) slow += SlownessOf(ratio, usual, true) > 1 ? 1 : 0;
    EXPECT_LE(slow, ratios.size() / 2);
  }
}

}  // namespace
}  // namespace mpsd
