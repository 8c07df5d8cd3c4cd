#include "worker/execute/token_counter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/fakes/fake_model.h"

namespace mpsd {
namespace {

// Rows of three tokens, at most six of them in a batch.
template <typename Number>
class TokenRuns {
 public:
  explicit TokenRuns(DataType datatype) : datatype_(datatype) {
    batch.inputs = {{datatype, {3}, 3 * sizeof(Number)}, {datatype, {3}, 3 * sizeof(Number)}};
  }

  // Adds a row run with this mask.
  void Add(std::vector<Number> mask) {
    masks_.push_back(std::move(mask));
    BatchRun& run = batch.runs.emplace_back();
    run.row_count = static_cast<uint32_t>(masks_.back().size() / 3);
    run.inputs = {nullptr, reinterpret_cast<const char*>(masks_.back().data())};
    batch.row_count += run.row_count;
  }

  FakeModel Model(ModelTraits traits = {}) const {
    ModelSpec spec;
    spec.max_batch_size = 6;
    spec.inputs = {{"input_ids", datatype_, {-1}}, {"attention_mask", datatype_, {-1}}};
    return {spec, EchoInputs, std::move(traits)};
  }

  Batch batch;

 private:
  const DataType datatype_;
  std::vector<std::vector<Number>> masks_;
};

std::pair<uint64_t, uint64_t> Count(const FakeModel& model, const Batch& batch) {
  const TokenCount count = TokenCounter(&model).Count(batch);
  return {count.computed, count.padding};
}

TEST(TokenCounter, CountsTheRowsOfAllRunsAndWhatTheirMaskLeavesOut) {
  TokenRuns<int64_t> rows(DataType::kInt64);
  rows.Add({1, 1, 0, 1, 0, 0});
  rows.Add({1, 1, 1});
  EXPECT_EQ(Count(rows.Model(), rows.batch), std::pair(9ul, 3ul));
  TokenRuns<int32_t> narrow(DataType::kInt32);
  narrow.Add({1, 1, 0});
  EXPECT_EQ(Count(narrow.Model(), narrow.batch), std::pair(3ul, 1ul));
}

TEST(TokenCounter, OfAModelThatLeavesPaddingOutThereIsNone) {
  TokenRuns<int64_t> rows(DataType::kInt64);
  rows.Add({1, 1, 0, 1, 0, 0});
  const FakeModel model = rows.Model({.leaves_padding_out = true});
  EXPECT_EQ(Count(model, rows.batch), std::pair(3ul, 0ul));
}

TEST(TokenCounter, RowsThatFillUpABucketArePadding) {
  TokenRuns<int64_t> rows(DataType::kInt64);
  rows.Add({1, 1, 1, 1, 1, 1, 1, 1, 0});
  const FakeModel model = rows.Model({.wants_row_buckets = true});
  EXPECT_EQ(Count(model, rows.batch), std::pair(12ul, 4ul));
}

TEST(TokenCounter, WithoutTokensOrAMaskThereIsNothingToCount) {
  const FakeModel other({}, EchoInputs);
  EXPECT_EQ(Count(other, Batch()), std::pair(0ul, 0ul));
  TokenRuns<int64_t> rows(DataType::kInt64);
  rows.Add({1, 1, 1});
  rows.batch.inputs[1].datatype = DataType::kInvalid;
  EXPECT_EQ(Count(rows.Model(), rows.batch), std::pair(0ul, 0ul));
}

}  // namespace
}  // namespace mpsd
