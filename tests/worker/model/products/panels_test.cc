#include "worker/model/products/panels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "worker/model/products/float_panels.h"
#include "worker/model/products/int8_panels.h"
#include "worker/model/products/team.h"

namespace mpsd {
namespace {

struct Shape {
  int64_t to = 0;
  int64_t from = 0;
  int64_t rows = 0;
};

// A product's matrices, of numbers around 0.
class Problem {
 public:
  explicit Problem(const Shape& shape)
      : shape_(shape),
        weight_(Numbers(shape.to * shape.from)),
        bias_(Numbers(shape.to)),
        x_(Numbers(shape.rows * shape.from)) {}

  FloatPanels floats() const { return {weight_.data(), bias_.data(), shape_.to, shape_.from}; }
  Int8Panels ints() const { return {weight_.data(), bias_.data(), shape_.to, shape_.from}; }

  template <typename Panels>
  std::vector<float> Multiply(const Panels& panels, int threads = 1) const {
    std::vector<float> y(static_cast<size_t>(shape_.rows * shape_.to), 77);
    panels.Multiply(x_.data(), shape_.rows, threads, y.data());
    return y;
  }

  // The largest difference from the product in doubles, in units of the root of the sums' length.
  // Infinite where a sum is not a number.
  double FarthestOf(const std::vector<float>& y) const {
    double farthest = 0;
    for (int64_t row = 0; row < shape_.rows; ++row) {
      for (int64_t column = 0; column < shape_.to; ++column) {
        double sum = bias_[static_cast<size_t>(column)];
        for (int64_t k = 0; k < shape_.from; ++k) {
          sum += static_cast<double>(x_[static_cast<size_t>(row * shape_.from + k)]) *
                 weight_[static_cast<size_t>(column * shape_.from + k)];
        }
        const float given = y[static_cast<size_t>(row * shape_.to + column)];
        if (std::isnan(given)) return std::numeric_limits<double>::infinity();
        farthest = std::max(farthest, std::fabs(sum - given));
      }
    }
    return farthest / std::sqrt(static_cast<double>(shape_.from));
  }

  std::vector<float>& weight() { return weight_; }
  std::vector<float>& bias() { return bias_; }
  std::vector<float>& x() { return x_; }

 private:
  std::vector<float> Numbers(int64_t count) {
    std::vector<float> numbers(static_cast<size_t>(count));
    for (float& number : numbers) number = normal_(random_);
    return numbers;
  }

  const Shape shape_;
  std::mt19937 random_{1};
  std::normal_distribution<float> normal_;
  std::vector<float> weight_;
  std::vector<float> bias_;
  std::vector<float> x_;
};

const Shape kShapes[] = {{1, 1, 1},    {16, 4, 6},   {15, 7, 5},   {17, 33, 7},
                         {40, 64, 13}, {3, 384, 16}, {384, 2, 12}, {64, 96, 200}};

class Panels : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasPanelProducts()) GTEST_SKIP() << "this processor has no such product";
  }
};

TEST_F(Panels, MultiplyInFloatAsInDoubles) {
  for (const Shape& shape : kShapes) {
    const Problem problem(shape);
    EXPECT_LT(problem.FarthestOf(problem.Multiply(problem.floats())), 3e-6)
        << shape.to << " " << shape.from << " " << shape.rows;
  }
}

// A weight is off by half of 1 of 127 parts of its column's largest at most.
TEST_F(Panels, MultiplyInInt8AsFarAsTheWeightsGo) {
  for (const Shape& shape : kShapes) {
    const Problem problem(shape);
    EXPECT_LT(problem.FarthestOf(problem.Multiply(problem.ints())), 0.05)
        << shape.to << " " << shape.from << " " << shape.rows;
  }
}

// The rest is what 16 bits leave of x.
TEST_F(Panels, WholeNumbersOfEightBitsAreExact) {
  Problem problem({20, 50, 9});
  for (float& number : problem.weight())
    number = std::clamp(std::round(number * 40), -127.F, 127.F);
  for (size_t column = 0; column < 20; ++column) problem.weight()[column * 50] = -127;
  EXPECT_LT(problem.FarthestOf(problem.Multiply(problem.ints())), 1e-2);
}

TEST_F(Panels, ARowHasTheSameAnswerAloneAndBesideOthers) {
  Problem many({40, 65, 23});
  const std::vector<float> floats = many.Multiply(many.floats());
  const std::vector<float> ints = many.Multiply(many.ints());
  Problem one({40, 65, 1});
  one.weight() = many.weight();
  one.bias() = many.bias();
  for (size_t row = 0; row < 23; ++row) {
    const auto first = many.x().begin() + static_cast<int64_t>(row) * 65;
    one.x().assign(first, first + 65);
    const auto expect_row = [&](const std::vector<float>& all, const std::vector<float>& alone) {
      EXPECT_TRUE(
          std::equal(alone.begin(), alone.end(), all.begin() + static_cast<int64_t>(row) * 40));
    };
    expect_row(floats, one.Multiply(one.floats()));
    expect_row(ints, one.Multiply(one.ints()));
  }
}

// 127 * 32767 * 40,000 is beyond 32 bits.
TEST_F(Panels, LongSumsInInt8DoNotOverflow) {
  Problem problem({2, 40'000, 2});
  std::fill(problem.weight().begin(), problem.weight().end(), 1.0F);
  std::fill(problem.x().begin(), problem.x().end(), 2.0F);
  for (const float number : problem.Multiply(problem.ints())) EXPECT_NEAR(number, 80'000, 10);
}

TEST_F(Panels, ANumberThatIsNotFiniteSpoilsItsRowInInt8) {
  for (const float spoilt :
       {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
        std::numeric_limits<float>::quiet_NaN()}) {
    for (const size_t place : {0, 7, 8, 18}) {  // among 19: within eight at a time and behind them
      Problem problem({5, 19, 3});
      problem.x()[19 + place] = spoilt;
      const std::vector<float> y = problem.Multiply(problem.ints());
      for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(std::isnan(y[i]), i / 5 == 1) << i;
    }
  }
}

TEST_F(Panels, AWeightThatIsNotFiniteSpoilsItsColumnInInt8) {
  for (const float spoilt :
       {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    Problem problem({5, 19, 3});
    problem.weight()[19 * 2 + 4] = spoilt;
    const std::vector<float> y = problem.Multiply(problem.ints());
    for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(std::isnan(y[i]), i % 5 == 2) << i;
  }
}

// Below 1e-38 a number has few digits, and its reciprocal is beyond the largest.
TEST_F(Panels, TheSmallestNumbersGiveTheBiasInInt8) {
  Problem problem({5, 19, 2});
  for (float& number : problem.weight()) number *= 1e-44F;
  for (float& number : problem.x()) number *= 1e-44F;
  const std::vector<float> y = problem.Multiply(problem.ints());
  for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], problem.bias()[i % 5]);
}

TEST_F(Panels, ZerosGiveTheBiasInInt8) {
  Problem problem({5, 19, 2});
  std::fill(problem.x().begin(), problem.x().end(), 0.0F);
  const std::vector<float> y = problem.Multiply(problem.ints());
  for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], problem.bias()[i % 5]);
}

TEST(PanelsOfInt8, TakeAQuarterOfTheMemory) {
  const Problem problem({384, 1536, 1});
  EXPECT_EQ(problem.ints().bytes(), 384u * 1536u);
}

TEST(PanelTiles, CoverAllRowsInNearlyEqualParts) {
  for (int64_t rows = 0; rows < 40; ++rows) {
    int64_t next = 0;
    int64_t tiles = 0;
    ForEachTile(rows, [&](int64_t first, int64_t count) {
      EXPECT_EQ(first, next);
      EXPECT_GE(count, rows / UnitsOf(rows, kTileRows));
      EXPECT_LE(count, kTileRows);
      next += count;
      ++tiles;
    });
    EXPECT_EQ(next, rows);
    EXPECT_EQ(tiles, UnitsOf(rows, kTileRows));
  }
}

TEST(Team, RunsEachPartOnce) {
  for (const int threads : {1, 3}) {
    std::vector<int> ran(10);
    RunInTeam(threads, 10, [&](int64_t part) { ++ran[static_cast<size_t>(part)]; });
    EXPECT_EQ(ran, std::vector<int>(10, 1));
  }
}

TEST(Team, ASmallProductStaysOnItsThread) {
  EXPECT_EQ(TeamFor(8, 1'000), 1);
  EXPECT_EQ(TeamFor(8, 10'000'000), 8);
}

}  // namespace
}  // namespace mpsd
