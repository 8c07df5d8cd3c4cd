#include "client/tune/trial.h"

#include <gtest/gtest.h>

#include <limits>

namespace mpsd::tune {
namespace {

constexpr bench::Slo kSlo{.quantile = 0.99, .bound_ns = 20'000'000};

TEST(Trial, ManyClientsFillTheBatchesOfAllLanes) {
  EXPECT_EQ(ManyClients(1, 0), 8u);
  EXPECT_EQ(ManyClients(2, 8), 32u);
  EXPECT_EQ(ManyClients(1, 1024), 32u);
  EXPECT_EQ(ManyClients(64, 64), 128u);
}

TEST(Trial, WhatOneClientCannotHaveNobodyCan) {
  bench::LoadPoint point{.answered = 10};
  point.p50_ns = 19'000'000;
  point.p99_ns = 50'000'000;
  EXPECT_FALSE(IsHopeless(point, kSlo)) << "its p99 may be noise";
  point.p50_ns = 21'000'000;
  EXPECT_TRUE(IsHopeless(point, kSlo));
  EXPECT_FALSE(IsHopeless(point, {.quantile = 0.1, .bound_ns = kSlo.bound_ns}));
}

TEST(Trial, ALoadIsLongEnoughForAQueueToShow) {
  EXPECT_EQ(LoadDuration(absl::Seconds(2), kSlo), absl::Seconds(2));
  EXPECT_EQ(LoadDuration(absl::Milliseconds(50), kSlo), absl::Milliseconds(200));
  const bench::Slo hour{.quantile = 0.5, .bound_ns = 3'600'000'000'000};
  EXPECT_EQ(LoadDuration(absl::Seconds(2), hour), absl::Seconds(30));
}

TEST(Trial, SaysWhatBecameOfRequests) {
  bench::LoadPoint point{.answered = 1};
  point.errors = {{"INTERNAL", 3}, {"WRONG", 1}};
  EXPECT_EQ(LoadFault(point), "");
  point.answered = 0;
  EXPECT_EQ(LoadFault(point), "no request is answered: 3 INTERNAL 1 WRONG");
}

}  // namespace
}  // namespace mpsd::tune
