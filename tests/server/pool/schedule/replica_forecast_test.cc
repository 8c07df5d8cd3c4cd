#include "server/pool/schedule/replica_forecast.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <utility>

#include "proto/base/clock.h"

namespace mpsd {
namespace {

constexpr int64_t kFirst = 1000 * kNsPerSecond;
constexpr int64_t kPromised = 100 * kNsPerMs;

// A curve that has seen batches of these rows, which took so many milliseconds.
LatencyCurve CurveOf(std::initializer_list<std::pair<uint32_t, int64_t>> sizes) {
  LatencyCurve curve;
  for (int time = 0; time < 32; ++time) {
    for (const auto& [rows, ms] : sizes) curve.Note(rows, ms * kNsPerMs);
  }
  return curve;
}

// `per_s` requests of one row a second for `seconds`, from kFirst on, with looks in between.
ReplicaForecast::Needs Offer(ReplicaForecast* forecast, const LatencyCurve* curve, int per_s,
                             int seconds = 60) {
  ReplicaForecast::Needs needs = forecast->At(kFirst, 1);
  for (int tenth = 1; tenth <= 10 * seconds; ++tenth) {
    for (int i = 0; i < per_s / 10; ++i) forecast->Arrived(curve, 1, 8);
    needs = forecast->At(kFirst + tenth * kNsPerSecond / 10, 1);
  }
  return needs;
}
constexpr int64_t kAfter = kFirst + 60 * kNsPerSecond;

TEST(RowsPerSecondWithin, IsLessTheTighterTheSlo) {
  const LatencyCurve curve = CurveOf({{1, 10}});
  const double loose = RowsPerSecondWithin(10 * kPromised, curve, 1, 1, 1);
  const double tight = RowsPerSecondWithin(kPromised / 2, curve, 1, 1, 1);
  EXPECT_NEAR(loose, 95, 1) << "a lane that is almost always busy";
  EXPECT_LT(tight, 60);
  EXPECT_GT(tight, 20);
}

TEST(RowsPerSecondWithin, GrowsWithTheLanes) {
  const LatencyCurve curve = CurveOf({{1, 10}});
  EXPECT_GT(RowsPerSecondWithin(kPromised, curve, 1, 1, 4),
            4 * RowsPerSecondWithin(kPromised, curve, 1, 1, 1));
}

TEST(RowsPerSecondWithin, TakesTheBatchThatTheSloAllows) {
  const LatencyCurve curve = CurveOf({{1, 10}, {8, 20}, {64, 400}});
  EXPECT_GT(RowsPerSecondWithin(kPromised, curve, 1, 64, 1), 250) << "8 rows at a time";
  EXPECT_LT(RowsPerSecondWithin(kPromised, curve, 1, 1, 1), 95) << "the model does not batch";
}

TEST(RowsPerSecondWithin, CountsOnNoBatchThatNobodyHasSeen) {
  EXPECT_LT(RowsPerSecondWithin(kPromised, CurveOf({{1, 10}}), 1, 64, 1), 95);
}

TEST(RowsPerSecondWithin, AnSloBelowOneBatchCountsThroughput) {
  const LatencyCurve curve = CurveOf({{1, 200}});
  EXPECT_NEAR(RowsPerSecondWithin(kPromised, curve, 1, 1, 1), 4.75, 0.3);
}

TEST(ReplicaForecast, IsNotKnownWithoutARequestOrLanesOrBatches) {
  const LatencyCurve known = CurveOf({{1, 10}});
  const LatencyCurve unknown;
  ReplicaForecast forecast(kPromised);
  EXPECT_LT(forecast.At(kFirst, 1).load, 0) << "no request";
  EXPECT_LT(Offer(&forecast, &unknown, 10).replicas, 0) << "no batch";
  forecast.Arrived(&known, 1, 8);
  EXPECT_LT(forecast.At(kAfter, 0).load, 0) << "no lanes";
  EXPECT_GT(forecast.At(kAfter, 1).load, 0);
}

TEST(ReplicaForecast, WithoutAnSloOnlyTheLoadIsKnown) {
  const LatencyCurve curve = CurveOf({{1, 10}});
  ReplicaForecast forecast(0);
  const ReplicaForecast::Needs needs = Offer(&forecast, &curve, 50);
  EXPECT_LT(needs.replicas, 0);
  EXPECT_NEAR(needs.load, 0.5, 0.02);
}

TEST(ReplicaForecast, IsTheOfferedRateInHosts) {
  const LatencyCurve curve = CurveOf({{1, 10}});
  ReplicaForecast forecast(kPromised);
  const ReplicaForecast::Needs needs = Offer(&forecast, &curve, 300);
  EXPECT_NEAR(needs.replicas, 300 / RowsPerSecondWithin(kPromised, curve, 1, 8, 1), 0.1);
  EXPECT_GT(needs.replicas, needs.load);
}

TEST(ReplicaForecast, KnowsARateSoonAfterTheFirstRequest) {
  const LatencyCurve curve = CurveOf({{1, 10}});
  ReplicaForecast forecast(kPromised);
  EXPECT_NEAR(Offer(&forecast, &curve, 300, 2).replicas,
              300 / RowsPerSecondWithin(kPromised, curve, 1, 8, 1), 0.4);
}

TEST(ReplicaForecast, FallsOnceNobodyAsks) {
  const LatencyCurve curve = CurveOf({{1, 10}});
  ReplicaForecast forecast(kPromised);
  Offer(&forecast, &curve, 300);
  EXPECT_LT(forecast.At(kAfter + 10 * ReplicaForecast::kWindowNs, 1).replicas, 0.01);
}

TEST(ReplicaForecast, AddsUpShapes) {
  const LatencyCurve one = CurveOf({{1, 10}});
  const LatencyCurve other = CurveOf({{1, 10}});
  ReplicaForecast forecast(kPromised);
  for (int i = 0; i < 100; ++i) forecast.Arrived(&one, 1, 8);
  const double alone = forecast.At(kFirst, 1).replicas;
  for (int i = 0; i < 100; ++i) forecast.Arrived(&other, 1, 8);
  EXPECT_NEAR(forecast.At(kFirst, 1).replicas, 2 * alone, 0.01);
}

}  // namespace
}  // namespace mpsd
