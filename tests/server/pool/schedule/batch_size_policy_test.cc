#include "server/pool/schedule/batch_size_policy.h"

#include <gtest/gtest.h>

namespace mpsd {
namespace {

// A batch of n rows takes 1000 + 100 n.
class BatchSizePolicyTest : public testing::Test {
 protected:
  static constexpr int64_t kNow = 1'000'000;
  static constexpr uint32_t kMaxRows = 64;

  BatchSizePolicyTest() {
    for (int i = 0; i < 50; ++i) {
      curve_.Note(1, 1100);
      curve_.Note(8, 1800);
    }
  }

  // For lines of requests of one row each: the first has `head_ns` left, the last `tail_ns`.
  SizeChoice Choose(uint32_t rows, int64_t head_ns, int64_t tail_ns) const {
    return ChooseSize({.rows = rows,
                       .head_rows = 1,
                       .head_deadline_ns = kNow + head_ns,
                       .head_answer_deadline_ns = kNow + head_ns,
                       .tail_deadline_ns = kNow + tail_ns,
                       .curve = &curve_},
                      kMaxRows, kNow);
  }

  LatencyCurve curve_;
};

TEST_F(BatchSizePolicyTest, AllWhoWaitRunIfTheHeadBearsIt) {
  EXPECT_EQ(Choose(10, 2000, 9000).drop_until_ns, 0);
  EXPECT_GE(Choose(10, 2000, 9000).rows, 10u);
}

TEST_F(BatchSizePolicyTest, ABatchIsAsLargeAsTheHeadBears) {
  const SizeChoice choice = Choose(10, 1500, 90'000);
  EXPECT_EQ(choice.rows, 5u);
  EXPECT_EQ(choice.drop_until_ns, 0) << "the others have time";
}

TEST_F(BatchSizePolicyTest, WhenAllWouldBeLateTheFirstAreGivenUp) {
  const SizeChoice choice = Choose(40, 1200, 5000);
  EXPECT_GT(choice.drop_until_ns, kNow + 1200);
  EXPECT_LT(choice.drop_until_ns, kNow + 5000);
}

TEST_F(BatchSizePolicyTest, NobodyIsGivenUpForThoseOfALaterRank) {
  LineView line = {.rows = 4,
                   .head_rows = 1,
                   .head_deadline_ns = kNow + 1400,
                   .head_answer_deadline_ns = kNow + 1400,
                   .tail_deadline_ns = kNow + 1500,
                   .curve = &curve_};
  line.later_rows = 60;
  line.later_deadline_ns = kNow + 5000;
  const SizeChoice choice = ChooseSize(line, kMaxRows, kNow);
  EXPECT_EQ(choice.drop_until_ns, 0);
  EXPECT_EQ(choice.rows, 4u);
  line.head_answer_deadline_ns = line.head_deadline_ns = kNow + 4000;
  EXPECT_GT(ChooseSize(line, kMaxRows, kNow).rows, 20u) << "but they fill what the head bears";
}

TEST_F(BatchSizePolicyTest, ThoseOfALaterRankThatWouldBeLateInTheBatchAreGivenUp) {
  LineView line = {.rows = 2,
                   .head_rows = 1,
                   .head_deadline_ns = kNow + 9000,
                   .head_answer_deadline_ns = kNow + 9000,
                   .tail_deadline_ns = kNow + 9000,
                   .curve = &curve_,
                   .rank = 2};
  line.later_rows = 8;
  line.later_rank = 4;
  line.later_deadline_ns = line.later_answer_deadline_ns = kNow + 1500;
  const SizeChoice choice = ChooseSize(line, kMaxRows, kNow);
  EXPECT_EQ(choice.drop_rank, 4u);
  EXPECT_GE(choice.drop_until_ns, line.later_deadline_ns);
  line.later_deadline_ns = line.later_answer_deadline_ns = kNow + 3000;
  EXPECT_EQ(ChooseSize(line, kMaxRows, kNow).drop_until_ns, 0) << "in time";
  line.later_deadline_ns = kNow + 1500;
  EXPECT_EQ(ChooseSize(line, kMaxRows, kNow).drop_until_ns, 0) << "only the wait is short";
  line.later_answer_deadline_ns = line.later_deadline_ns;
  EXPECT_EQ(ChooseSize(line, 2, kNow).drop_until_ns, 0) << "they are not in this batch";
}

TEST_F(BatchSizePolicyTest, NobodyIsGivenUpWhereOnlyTheWaitIsShort) {
  const LineView line = {.rows = 40,
                         .head_rows = 1,
                         .head_deadline_ns = kNow + 100,
                         .head_answer_deadline_ns = kNow + 1200,
                         .tail_deadline_ns = kNow + 5000,
                         .curve = &curve_};
  EXPECT_EQ(ChooseSize(line, kMaxRows, kNow).drop_until_ns, 0);
}

TEST_F(BatchSizePolicyTest, NobodyIsGivenUpForALittle) {
  EXPECT_EQ(Choose(8, 1700, 2500).drop_until_ns, 0) << "seven of eight run";
}

TEST_F(BatchSizePolicyTest, AHeadThatIsTooLateIsGivenUpAlone) {
  EXPECT_EQ(Choose(2, 1000, 90'000).drop_until_ns, kNow + 1000);
}

TEST_F(BatchSizePolicyTest, AHeadThatIsTooLateIsTriedWhenItIsAlone) {
  const SizeChoice choice = Choose(1, 1000, 1000);
  EXPECT_EQ(choice.rows, 1u);
  EXPECT_EQ(choice.drop_until_ns, 0);
}

TEST_F(BatchSizePolicyTest, SoManyRowsPayThatMoreGainNothing) {
  EXPECT_EQ(PayingRows(curve_, 64), 64u) << "each row more is worth it";
  LatencyCurve flat;
  for (int i = 0; i < 50; ++i) {
    flat.Note(1, 1000);
    flat.Note(4, 2000);
    flat.Note(64, 32'000);
  }
  EXPECT_EQ(PayingRows(flat, 64), 4u) << "from there on each row takes as long";
  EXPECT_EQ(PayingRows(flat, 3), 3u);
  EXPECT_EQ(PayingRows(flat, 1), 1u);
}

TEST_F(BatchSizePolicyTest, WhereEachRowTakesAsLongOneRowPays) {
  LatencyCurve straight;
  for (int i = 0; i < 50; ++i) {
    straight.Note(1, 1000);
    straight.Note(2, 1990);
  }
  EXPECT_EQ(PayingRows(straight, 64), 1u) << "what is nearly as good suffices";
}

TEST_F(BatchSizePolicyTest, LargerBatchesAreTriedWhereOnlyOneSizeIsKnown) {
  LatencyCurve young;
  young.Note(1, 1000);
  EXPECT_EQ(PayingRows(young, 64), 64u);
}

}  // namespace
}  // namespace mpsd
