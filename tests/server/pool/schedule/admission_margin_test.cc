#include "server/pool/schedule/admission_margin.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace mpsd {
namespace {

constexpr int64_t kMilli = 1'000'000;
constexpr int64_t kPromise = 20 * kMilli;  // deadline of requests that arrive at 0
constexpr int64_t kItsWay = kPromise / 20;

int64_t MarginOf(const AdmissionMargin& margin) {
  return kPromise - kItsWay - margin.BackByNs(0, kPromise);
}

// The answer, which was foreseen to be in time, is back.
void Answer(AdmissionMargin* margin, int64_t at_ns) {
  margin->NoteEnd(0, kPromise, at_ns);
  margin->NoteAnswer(0, kPromise, at_ns);
}

TEST(AdmissionMargin, IsNothingWhileAllAreInTime) {
  AdmissionMargin margin;
  for (int i = 0; i < 100; ++i) Answer(&margin, kPromise - kItsWay);
  EXPECT_EQ(MarginOf(margin), 0);
}

TEST(AdmissionMargin, TheWayOfAnAnswerIsAShareOfTheTimeAndAtLeastALittle) {
  const AdmissionMargin margin;
  EXPECT_EQ(margin.BackByNs(5 * kMilli, 105 * kMilli), 100 * kMilli);
  EXPECT_EQ(margin.BackByNs(0, kMilli), kMilli - 200'000);
}

TEST(AdmissionMargin, GrowsWithWhatEndsTooLateUpToHalfOfTheTime) {
  AdmissionMargin margin;
  Answer(&margin, kPromise - kItsWay + 1);
  const int64_t first = MarginOf(margin);
  EXPECT_GT(first, 0);
  Answer(&margin, 2 * kPromise);
  EXPECT_NEAR(MarginOf(margin), 2 * first, 1);
  for (int i = 0; i < 1000; ++i) Answer(&margin, kPromise);
  EXPECT_EQ(MarginOf(margin), kPromise / 2);
}

TEST(AdmissionMargin, NineteenInTimeMakeUpForOneTooLate) {
  AdmissionMargin margin;
  for (int i = 0; i < 100; ++i) Answer(&margin, kPromise);
  const int64_t before = MarginOf(margin);
  Answer(&margin, kPromise);
  EXPECT_GT(MarginOf(margin), before + kPromise / 1000);
  for (int i = 0; i < 19; ++i) Answer(&margin, kPromise - kItsWay);
  EXPECT_NEAR(MarginOf(margin), before, 10);
  for (int i = 0; i < 19 * 100; ++i) Answer(&margin, kPromise - kItsWay);
  EXPECT_NEAR(MarginOf(margin), 0, 10);
}

TEST(AdmissionMargin, WhatEndsLongBeforeItHasToTeachesNothing) {
  AdmissionMargin margin;
  for (int i = 0; i < 100; ++i) Answer(&margin, kPromise);
  const int64_t before = MarginOf(margin);
  const int64_t allowed = margin.BackByNs(0, kPromise);
  for (int i = 0; i < 1000; ++i) Answer(&margin, allowed / 2 - 1);
  EXPECT_EQ(MarginOf(margin), before);
  Answer(&margin, allowed / 2);
  EXPECT_LT(MarginOf(margin), before);
}

TEST(AdmissionMargin, OneThatEndsWithoutAnAnswerCountsOnceItsTimeIsOver) {
  AdmissionMargin margin;
  for (int i = 0; i < 100; ++i) margin.NoteEnd(0, kPromise, kPromise);
  const int64_t before = MarginOf(margin);
  EXPECT_GT(before, 0);
  margin.NoteEnd(0, kPromise, kPromise - kItsWay);
  EXPECT_EQ(MarginOf(margin), before) << "its client has left, and would have been in time";
}

TEST(AdmissionMargin, WhatIsLateAsForeseenTeachesNothingAndWhatIsInTimeAgainstItDoes) {
  AdmissionMargin margin;
  for (int i = 0; i < 100; ++i) margin.NoteAnswer(0, kPromise, kPromise);
  EXPECT_EQ(MarginOf(margin), 0);
  Answer(&margin, kPromise);
  const int64_t before = MarginOf(margin);
  margin.NoteAnswer(0, kPromise, kPromise - kItsWay);
  EXPECT_LT(MarginOf(margin), before);
}

}  // namespace
}  // namespace mpsd
