#include "server/schedule/replica_forecast.h"

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

// `per_s` requests of one row a second, evenly for a minute, from kFirst on.
void Offer(ReplicaForecast* forecast, const LatencyCurve* curve, int per_s) {
  for (int i = 0; i < 60 * per_s; ++i) {
    forecast->Arrived(curve, 1, 8, kFirst + i * kNsPerSecond / per_s);
  }
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

TEST(ReplicaForecast, IsNotKnownWithoutAnSloOrLanesOrBatches) {
  const LatencyCurve known = CurveOf({{1, 10}});
  const LatencyCurve unknown;
  ReplicaForecast without(0);
  Offer(&without, &known, 10);
  EXPECT_LT(without.At(kAfter, 1), 0);
  ReplicaForecast forecast(kPromised);
  EXPECT_LT(forecast.At(kFirst, 1), 0) << "no request";
  Offer(&forecast, &unknown, 10);
  EXPECT_LT(forecast.At(kAfter, 1), 0) << "no batch";
  Offer(&forecast, &known, 10);
  EXPECT_LT(forecast.At(kAfter, 0), 0) << "no lanes";
}

TEST(ReplicaForecast, IsTheOfferedRateInHosts) {
  const LatencyCurve curve = CurveOf({{1, 10}});
  ReplicaForecast forecast(kPromised);
  Offer(&forecast, &curve, 300);
  EXPECT_NEAR(forecast.At(kAfter, 1), 300 / RowsPerSecondWithin(kPromised, curve, 1, 8, 1), 0.1);
}

TEST(ReplicaForecast, KnowsARateSoonAfterTheFirstRequest) {
  const LatencyCurve curve = CurveOf({{1, 10}});
  ReplicaForecast forecast(kPromised);
  for (int i = 0; i < 600; ++i) forecast.Arrived(&curve, 1, 8, kFirst + i * kNsPerSecond / 300);
  EXPECT_NEAR(forecast.At(kFirst + 2 * kNsPerSecond, 1),
              300 / RowsPerSecondWithin(kPromised, curve, 1, 8, 1), 0.4);
}

TEST(ReplicaForecast, FallsOnceNobodyAsks) {
  const LatencyCurve curve = CurveOf({{1, 10}});
  ReplicaForecast forecast(kPromised);
  Offer(&forecast, &curve, 300);
  EXPECT_LT(forecast.At(kAfter + 10 * ReplicaForecast::kWindowNs, 1), 0.01);
}

TEST(ReplicaForecast, AddsUpShapes) {
  const LatencyCurve one = CurveOf({{1, 10}});
  const LatencyCurve other = CurveOf({{1, 10}});
  ReplicaForecast forecast(kPromised);
  Offer(&forecast, &one, 100);
  const double alone = forecast.At(kAfter, 1);
  Offer(&forecast, &other, 100);
  EXPECT_NEAR(forecast.At(kAfter, 1), 2 * alone, 0.05);
}

}  // namespace
}  // namespace mpsd
