#include "server/admit/padding.h"

#include <gtest/gtest.h>

#include <vector>

namespace mpsd {
namespace {

// Two inputs whose dim 0 is padded alike.
class Padding : public testing::Test {
 protected:
  Padding() {
    spec_.inputs = {{"IDS", DataType::kInt64, {-1}}, {"MASK", DataType::kFp32, {-1, 2}}};
    spec_.pad = {{"IDS", 0, {16, 64}, 1, {}}, {"MASK", 0, {16, 64}, 0, {}}};
  }

  absl::Status Apply(int64_t length) {
    request_.Reset();
    request_.inputs = {{DataType::kInt64, {length}, {}, 0}, {DataType::kFp32, {length, 2}, {}, 0}};
    return ApplyPadding(spec_, &request_);
  }

  ModelSpec spec_;
  Request request_;
};

TEST_F(Padding, TakesTheSmallestBucketThatHoldsTheLength) {
  for (const auto& [length, bucket] :
       {std::pair<int64_t, int64_t>{0, 16}, {1, 16}, {16, 16}, {17, 64}, {64, 64}}) {
    ASSERT_TRUE(Apply(length).ok());
    EXPECT_EQ(request_.inputs[0].padded_dims, (Dims{bucket})) << length;
    EXPECT_EQ(request_.inputs[0].row_bytes, static_cast<uint64_t>(bucket) * 8);
    EXPECT_EQ(request_.inputs[1].padded_dims, (Dims{bucket, 2}));
    EXPECT_EQ(request_.inputs[1].row_bytes, static_cast<uint64_t>(bucket) * 8);
    EXPECT_EQ(request_.inputs[0].dims, (Dims{length})) << "its own length stays";
    EXPECT_EQ(request_.key, (ShapeKey{bucket, bucket, 2}));
  }
}

TEST_F(Padding, LengthsOfOneBucketHaveOneKey) {
  ASSERT_TRUE(Apply(3).ok());
  const ShapeKey key = request_.key;
  ASSERT_TRUE(Apply(15).ok());
  EXPECT_EQ(request_.key, key);
  ASSERT_TRUE(Apply(20).ok());
  EXPECT_NE(request_.key, key);
}

TEST_F(Padding, InputsThatAreLeftOutAreOfTheKey) {
  spec_.inputs[0].optional = spec_.inputs[1].optional = true;
  ASSERT_TRUE(Apply(3).ok());
  EXPECT_EQ(request_.key, (ShapeKey{1, 16, 1, 16, 2}));
  request_.key.clear();
  request_.inputs[0] = {};
  ASSERT_TRUE(ApplyPadding(spec_, &request_).ok());
  EXPECT_EQ(request_.key, (ShapeKey{0, 1, 16, 2}));
  EXPECT_EQ(request_.inputs[0].Bytes(1), 0u);
  request_.key.clear();
  request_.inputs[1] = {};
  ASSERT_TRUE(ApplyPadding(spec_, &request_).ok());
  EXPECT_EQ(request_.key, (ShapeKey{0, 0}));
}

TEST_F(Padding, BeyondTheLargestBucketIsRefused) {
  EXPECT_EQ(Apply(65),
            absl::InvalidArgumentError("input 'IDS' is of length 65, but at most 64 is served"));
}

TEST_F(Padding, SeveralDimsOfAnInput) {
  spec_.pad.push_back({"MASK", 1, {8}, 0, {}});
  ASSERT_TRUE(Apply(5).ok());
  EXPECT_EQ(request_.inputs[1].padded_dims, (Dims{16, 8}));
  EXPECT_EQ(request_.key, (ShapeKey{16, 16, 8}));
}

TEST_F(Padding, WithoutARuleTheDimsAreTheKey) {
  spec_.pad.clear();
  ASSERT_TRUE(Apply(5).ok());
  EXPECT_EQ(request_.inputs[0].padded_dims, request_.inputs[0].dims);
  EXPECT_EQ(request_.key, (ShapeKey{5, 5, 2}));
}

TEST_F(Padding, APaddedSizeThatOverflowsIsRefused) {
  spec_.pad = {{"MASK", 0, {int64_t{1} << 62}, 0, {}}};
  EXPECT_EQ(Apply(5), absl::InvalidArgumentError("the inputs are larger than any that are served"));
}

TEST_F(Padding, ARowOfAllInputsHasALargestSize) {
  const int64_t bucket = (int64_t{1} << 40) / 16;  // half of 1 TiB for each input
  spec_.pad = {{"IDS", 0, {bucket}, 0, {}}, {"MASK", 0, {bucket}, 0, {}}};
  EXPECT_TRUE(Apply(5).ok());
  spec_.pad[1].buckets = {bucket + 1};
  EXPECT_EQ(Apply(5), absl::InvalidArgumentError("the inputs are larger than any that are served"));
}

TEST_F(Padding, RowsOfTokensHaveOneLength) {
  spec_.max_batch_size = 4;
  spec_.inputs.clear();
  spec_.pad.clear();
  for (const char* name : {"input_ids", "attention_mask", "token_type_ids"}) {
    spec_.inputs.push_back({name, DataType::kInt64, {-1}});
    spec_.pad.push_back({name, 0, {16}, 0, {}});
  }
  const auto apply = [this](const std::vector<int64_t>& lengths) {
    request_.Reset();
    for (const int64_t length : lengths) {
      request_.inputs.push_back({DataType::kInt64, {length}, {}, 0});
    }
    return ApplyPadding(spec_, &request_);
  };
  EXPECT_TRUE(apply({3, 3, 3}).ok());
  const absl::Status differ =
      absl::InvalidArgumentError("input_ids, attention_mask and token_type_ids differ in length");
  EXPECT_EQ(apply({2, 3, 2}), differ);
  EXPECT_EQ(apply({3, 3, 2}), differ);
}

TEST_F(Padding, StringsAreAsLongAsTheyAre) {
  spec_.inputs = {{"T", DataType::kBytes, {-1}}};
  spec_.pad.clear();
  RequestInput& input = request_.inputs.emplace_back();
  input.datatype = DataType::kBytes;
  input.dims = {3};
  input.tensor_bytes = 77;
  ASSERT_TRUE(ApplyPadding(spec_, &request_).ok());
  EXPECT_EQ(request_.inputs[0].row_bytes, 0u);
  EXPECT_EQ(request_.inputs[0].tensor_bytes, 77u);
  EXPECT_EQ(request_.key, (ShapeKey{3}));
}

}  // namespace
}  // namespace mpsd
