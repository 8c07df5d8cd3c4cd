#include "client/traffic/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mpsd::traffic {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Timeline, CountsBySpan) {
  Timeline timeline(100);
  for (const int64_t at_ns : {0, 99, 100, 350}) timeline.Count(Timeline::kGood, at_ns);
  timeline.Count(Timeline::kDue, 150);
  EXPECT_THAT(timeline.counts(Timeline::kGood), ElementsAre(2, 1, 0, 1));
  EXPECT_THAT(timeline.counts(Timeline::kDue), ElementsAre(0, 1));
  EXPECT_THAT(timeline.counts(Timeline::kOther), IsEmpty());
}

TEST(Timeline, WithoutALengthCountsNothing) {
  Timeline timeline;
  timeline.Count(Timeline::kGood, 5);
  EXPECT_THAT(timeline.counts(Timeline::kGood), IsEmpty());
}

TEST(Timeline, OfSeveralThreadsAddUp) {
  Timeline longer(10);
  longer.Count(Timeline::kGood, 25);
  Timeline shorter(10);
  shorter.Count(Timeline::kGood, 5);
  Timeline all;
  all.Merge(shorter);
  all.Merge(longer);
  all.Merge(Timeline());
  EXPECT_EQ(all.span_ns(), 10);
  EXPECT_THAT(all.counts(Timeline::kGood), ElementsAre(1, 0, 1));
}

}  // namespace
}  // namespace mpsd::traffic
