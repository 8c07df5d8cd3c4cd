#include "client/tune/tune_budget.h"

#include <gtest/gtest.h>

namespace mpsd::tune {
namespace {

TEST(TuneBudget, TheFirstAlwaysFits) {
  EXPECT_TRUE(TuneBudget(absl::Seconds(1)).Fits(absl::Seconds(2)));
}

TEST(TuneBudget, LeavesTheTimeOfTheLongestAndOfTheVerification) {
  TuneBudget budget(absl::Seconds(60));
  budget.Add(absl::Seconds(20));
  budget.Add(absl::Seconds(10));
  EXPECT_TRUE(budget.Fits(absl::Seconds(30)));
  EXPECT_FALSE(budget.Fits(absl::Seconds(31)));
}

}  // namespace
}  // namespace mpsd::tune
