#include "client/bench/knee_search.h"

#include <gtest/gtest.h>

namespace mpsd::bench {
namespace {

// The knee that a server has which bears all loads up to `capacity`; counts the loads it was given.
double KneeOf(double capacity, const KneeSearch::Options& options, int* tries) {
  KneeSearch search(options);
  *tries = 0;
  while (const auto load = search.Next()) {
    ++*tries;
    search.Add(*load, *load <= capacity);
  }
  return search.knee();
}

TEST(KneeSearch, FindsTheHighestLoadFromBothSides) {
  int tries = 0;
  for (const double first : {10.0, 700.0, 1000.0, 30'000.0}) {
    const double knee = KneeOf(1000, {.first = first, .tolerance = 0.02}, &tries);
    EXPECT_LE(knee, 1000) << first;
    EXPECT_GE(knee, 970) << first;
    EXPECT_LE(tries, 16) << first;
  }
}

TEST(KneeSearch, ALooseSearchIsShort) {
  int tries = 0;
  EXPECT_GE(KneeOf(1000, {.first = 700, .tolerance = 0.3}, &tries), 700);
  EXPECT_LE(tries, 3);
}

TEST(KneeSearch, GivesUpFarBelowTheFirstLoad) {
  int tries = 0;
  EXPECT_EQ(KneeOf(0, {.first = 100}, &tries), 0);
  EXPECT_EQ(tries, 11);
}

TEST(KneeSearch, EndsAfterSoManyLoads) {
  int tries = 0;
  EXPECT_GT(KneeOf(1e9, {.first = 100, .loads_max = 5}, &tries), 100);
  EXPECT_EQ(tries, 5);
}

TEST(KneeSearch, StopsWhereEveryLoadIsMet) {
  int tries = 0;
  EXPECT_EQ(KneeOf(1e9, {.first = 1}, &tries), 1024);
}

TEST(KneeSearch, ALowerLoadThatWasMissedCounts) {
  KneeSearch search({.first = 100});
  search.Add(100, true);
  search.Add(50, false);
  EXPECT_EQ(search.knee(), 0);
}

}  // namespace
}  // namespace mpsd::bench
