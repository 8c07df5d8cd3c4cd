#include "server/pool/schedule/return_forecast.h"

#include <gtest/gtest.h>

namespace mpsd {
namespace {

constexpr int64_t kUs = 1000;

// Clients that are back `delay_ns` after their answers, each so much later than the one before.
// Returns when the last one is back.
int64_t Circle(ReturnForecast* forecast, uint32_t clients, int64_t delay_ns, int64_t apart_ns,
               int64_t now_ns) {
  forecast->Answered(clients, now_ns);
  for (uint32_t i = 0; i < clients; ++i) forecast->Arrived(now_ns + delay_ns + i * apart_ns);
  return now_ns + delay_ns + clients * apart_ns;
}

int64_t Learn(ReturnForecast* forecast, uint32_t clients) {
  int64_t now_ns = 0;
  for (int i = 0; i < 50; ++i) now_ns = Circle(forecast, clients, 100 * kUs, 10 * kUs, now_ns);
  return now_ns;
}

TEST(ReturnForecast, ExpectsNobodyAtFirst) {
  ReturnForecast forecast;
  EXPECT_EQ(forecast.Expect(0).requests, 0u);
  forecast.Answered(8, 0);
  EXPECT_EQ(forecast.Expect(0).requests, 0u) << "nobody was seen to come back";
}

TEST(ReturnForecast, LearnsThatClientsComeBack) {
  ReturnForecast forecast;
  const int64_t now_ns = Learn(&forecast, 8);
  forecast.Answered(8, now_ns);
  const ExpectedReturns expected = forecast.Expect(now_ns);
  EXPECT_EQ(expected.requests, 8u);
  EXPECT_GE(expected.by_ns, now_ns + 130 * kUs);
  EXPECT_LE(expected.by_ns, now_ns + 250 * kUs);
}

TEST(ReturnForecast, ExpectsThoseWhoAreNotBackYet) {
  ReturnForecast forecast;
  const int64_t now_ns = Learn(&forecast, 8);
  forecast.Answered(8, now_ns);
  for (int i = 0; i < 5; ++i) forecast.Arrived(now_ns + 100 * kUs);
  EXPECT_EQ(forecast.Expect(now_ns + 100 * kUs).requests, 3u);
  for (int i = 0; i < 3; ++i) forecast.Arrived(now_ns + 110 * kUs);
  EXPECT_EQ(forecast.Expect(now_ns + 110 * kUs).requests, 0u);
}

TEST(ReturnForecast, ExpectsNobodyWhoIsLate) {
  ReturnForecast forecast;
  const int64_t now_ns = Learn(&forecast, 8);
  forecast.Answered(8, now_ns);
  EXPECT_EQ(forecast.Expect(forecast.Expect(now_ns).by_ns).requests, 0u);
}

TEST(ReturnForecast, LearnsThatClientsDoNotComeBack) {
  ReturnForecast forecast;
  int64_t now_ns = Learn(&forecast, 8);
  for (int i = 0; i < 20; ++i) {
    forecast.Answered(8, now_ns);
    now_ns += 1000 * 1000 * kUs;
  }
  forecast.Answered(8, now_ns);
  EXPECT_EQ(forecast.Expect(now_ns).requests, 0u);
}

TEST(ReturnForecast, AddsBatchesOfWhichClientsAreExpected) {
  ReturnForecast forecast;
  const int64_t now_ns = Learn(&forecast, 4);
  forecast.Answered(4, now_ns);
  forecast.Answered(3, now_ns + 20 * kUs);
  const ExpectedReturns expected = forecast.Expect(now_ns + 20 * kUs);
  EXPECT_EQ(expected.requests, 7u);
  EXPECT_GT(expected.by_ns, forecast.Expect(now_ns).by_ns - 1);
}

TEST(ReturnForecast, ABatchWhoseClientsAreBackSaysNothingOfOthers) {
  ReturnForecast forecast;
  int64_t now_ns = 0;
  for (int i = 0; i < 50; ++i) now_ns = Circle(&forecast, 4, 100 * kUs, 40 * kUs, now_ns);
  forecast.Answered(2, now_ns);
  forecast.Answered(1, now_ns + 50 * kUs);
  now_ns += 220 * kUs;
  forecast.Arrived(now_ns);
  EXPECT_EQ(forecast.Expect(now_ns).requests, 2u);
  EXPECT_EQ(forecast.Expect(now_ns).answered, 2u) << "those of the first batch are awaited";
}

// Two batches of clients take turns, and a client of the first has left.
TEST(ReturnForecast, AClientThatHasLeftMakesNobodyLate) {
  ReturnForecast forecast;
  int64_t now_ns = Learn(&forecast, 8);
  forecast.Answered(9, now_ns);
  for (int i = 0; i < 20; ++i) {
    for (int j = 0; j < 8; ++j) forecast.Arrived(now_ns + 100 * kUs + j * 10 * kUs);
    now_ns += 500 * kUs;
    forecast.Answered(8, now_ns);
  }
  const ExpectedReturns expected = forecast.Expect(now_ns);
  EXPECT_EQ(expected.requests, 8u);
  EXPECT_LE(expected.by_ns, now_ns + 250 * kUs);
}

TEST(ReturnForecast, TellsHowLongMoreClientsTake) {
  ReturnForecast forecast;
  const int64_t now_ns = Learn(&forecast, 8);
  forecast.Answered(8, now_ns);
  const ExpectedReturns expected = forecast.Expect(now_ns);
  EXPECT_EQ(expected.RoundNs(8), expected.by_ns - now_ns);
  EXPECT_GE(expected.RoundNs(16), expected.RoundNs(8) + 40 * kUs);
  EXPECT_LE(expected.RoundNs(16), expected.RoundNs(8) + 160 * kUs);
}

TEST(ReturnForecast, ManyBatchesWithoutReturnsAreBounded) {
  ReturnForecast forecast;
  const int64_t now_ns = Learn(&forecast, 1);
  for (int i = 0; i < 1000; ++i) forecast.Answered(1, now_ns);
  EXPECT_LE(forecast.Expect(now_ns).requests, 64u);
}

}  // namespace
}  // namespace mpsd
