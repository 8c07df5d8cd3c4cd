#include "server/pool/batch/token_budget.h"

#include <gtest/gtest.h>

namespace mpsd {
namespace {

class TokenBudgetTest : public testing::Test {
 protected:
  TokenBudgetTest() {
    spec_.max_batch_size = 8;
    spec_.inputs = {{"input_ids", DataType::kInt64, {-1}},
                    {"attention_mask", DataType::kInt64, {-1}}};
    request_.inputs.resize(2);
    for (RequestInput& input : request_.inputs) {
      input.datatype = DataType::kInt64;
      input.dims = {3};
      input.padded_dims = {16};
    }
  }

  uint32_t Rows(uint64_t tokens) const { return TokenBudget(&spec_, tokens).RowsOf(request_); }

  ModelSpec spec_;
  Request request_;
};

TEST_F(TokenBudgetTest, CountsRowsAsLongAsTheirBucket) {
  EXPECT_EQ(Rows(47), 2u);
  EXPECT_EQ(Rows(48), 3u);
}

TEST_F(TokenBudgetTest, ARowThatIsLongerThanTheBudgetMayRun) { EXPECT_EQ(Rows(15), 1u); }

TEST_F(TokenBudgetTest, WithoutABudgetOrTokensAnyRowsShareABatch) {
  EXPECT_EQ(TokenBudget().RowsOf(request_), TokenBudget::kAnyRows);
  EXPECT_EQ(Rows(0), TokenBudget::kAnyRows);
  spec_.inputs[0].name = "x";
  EXPECT_EQ(Rows(16), TokenBudget::kAnyRows);
}

TEST_F(TokenBudgetTest, RowsWithoutTokensCountAsOneEach) {
  request_.inputs[0].padded_dims = {0};
  EXPECT_EQ(Rows(7), 7u);
}

}  // namespace
}  // namespace mpsd
