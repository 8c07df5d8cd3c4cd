#include "worker/model/torch/recorded_runs.h"

#include <gtest/gtest.h>

#include "ATen/ops/zeros.h"

namespace mpsd {
namespace {

InputTensor Input(const Dims& dims, DataType datatype = DataType::kFp32) {
  return {nullptr, 0, datatype, dims};
}

// A batch that is told from others by the rows of its output.
RecordedBatch BatchOf(int64_t rows) {
  RecordedBatch batch;
  batch.outputs.push_back(at::zeros({rows}));
  return batch;
}

class RecordedRunsTest : public testing::Test {
 protected:
  void Add(const InputTensor& input, uint32_t rows) {
    const RecordPlace place = PlaceByShapes({input}, rows);
    runs_.Add(place, BatchOf(rows));
    runs_.SetPrice(place, /*replayed_ns=*/100, /*plain_ns=*/900);
  }

  // The rows of the run that answers; 0: none does.
  int64_t Rows(const InputTensor& input, uint32_t rows) const {
    const RecordedBatch* const batch = runs_.Find(PlaceByShapes({input}, rows));
    return batch == nullptr ? 0 : batch->outputs[0].size(0);
  }

  RecordedRuns runs_;
};

TEST_F(RecordedRunsTest, ABatchIsAnsweredByTheNextLargerRunOfItsShape) {
  Add(Input({8, 16}), 8);
  Add(Input({2, 16}), 2);
  EXPECT_EQ(Rows(Input({1, 16}), 1), 2);
  EXPECT_EQ(Rows(Input({2, 16}), 2), 2);
  EXPECT_EQ(Rows(Input({3, 16}), 3), 8);
  EXPECT_EQ(Rows(Input({9, 16}), 9), 0);
}

TEST_F(RecordedRunsTest, OtherShapesAndDatatypesHaveTheirOwn) {
  Add(Input({4, 16}), 4);
  EXPECT_EQ(Rows(Input({4, 17}), 4), 0);
  EXPECT_EQ(Rows(Input({4, 16, 1}), 4), 0);
  EXPECT_EQ(Rows(Input({4, 16}, DataType::kInt32), 4), 0);
  EXPECT_EQ(Rows(InputTensor(), 4), 0) << "an input that was left out";
}

TEST_F(RecordedRunsTest, AFirstDimThatIsNotTheRowsCounts) {
  Add(Input({3, 16}), 1);  // the model does not batch
  EXPECT_EQ(Rows(Input({3, 16}), 1), 1);
  EXPECT_EQ(Rows(Input({2, 16}), 1), 0);
}

TEST_F(RecordedRunsTest, ARunThatIsAddedAgainTakesTheOthersPlace) {
  Add(Input({2, 16}), 2);
  Add(Input({2, 16}), 2);
  EXPECT_EQ(runs_.size(), 1U);
}

TEST_F(RecordedRunsTest, ARunThatIsRemovedAnswersNothing) {
  Add(Input({2, 16}), 2);
  Add(Input({4, 16}), 4);
  runs_.Remove(PlaceByShapes({Input({2, 16})}, 2));
  EXPECT_EQ(Rows(Input({2, 16}), 2), 4);
  runs_.Remove(PlaceByShapes({Input({4, 16})}, 4));
  runs_.Remove(PlaceByShapes({Input({4, 16})}, 4));
  EXPECT_EQ(Rows(Input({2, 16}), 2), 0);
  EXPECT_EQ(runs_.size(), 0U);
}

}  // namespace
}  // namespace mpsd
