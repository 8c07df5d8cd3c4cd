#include "worker/model/run_prices.h"

#include "gtest/gtest.h"

namespace mpsd {
namespace {

// A model that waits for its launches up to eight rows, and computes from there on.
const RunPrice kPrices[] = {{1, 200, 900}, {4, 210, 910}, {8, 300, 930}, {64, 2'000, 2'000}};

std::optional<size_t> Pick(uint32_t rows) { return CheapestRecord(kPrices, rows); }

TEST(RunPrices, ARecordOfJustSoManyRowsIsTaken) {
  EXPECT_EQ(Pick(1), 0);
  EXPECT_EQ(Pick(4), 1);
  EXPECT_EQ(Pick(64), 3);
}

TEST(RunPrices, OneOfMoreRowsIsTakenWhereThatIsFaster) {
  EXPECT_EQ(Pick(2), 1);
  EXPECT_EQ(Pick(5), 2);
}

TEST(RunPrices, ABatchRunsWithoutOneWhereTheRowsCostMoreThanTheLaunches) {
  EXPECT_EQ(Pick(9), std::nullopt);  // twice 949 against 2,000
  EXPECT_EQ(Pick(12), 3);            // twice 1,006
}

TEST(RunPrices, NoneIsLargeEnough) {
  EXPECT_EQ(Pick(65), std::nullopt);
  EXPECT_EQ(CheapestRecord({}, 1), std::nullopt);
}

TEST(RunPrices, BelowTheSmallestRecordItIsTaken) {
  const RunPrice prices[] = {{8, 300, 930}};
  EXPECT_EQ(CheapestRecord(prices, 3), 0);
}

}  // namespace
}  // namespace mpsd
