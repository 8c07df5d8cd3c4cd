#include "server/texts/token_tensors.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace mpsd {
namespace {

ModelSpec SpecOf(DataType datatype, int64_t length) {
  ModelSpec spec;
  spec.max_batch_size = 8;
  spec.inputs = {{"input_ids", datatype, {length}}, {"attention_mask", datatype, {length}}};
  return spec;
}

text::Encoding RowOf(std::vector<int32_t> ids) {
  text::Encoding row;
  row.type_ids.resize(ids.size());
  row.ids = std::move(ids);
  return row;
}

template <typename Number>
std::vector<Number> NumbersOf(const InputMessage& input) {
  EXPECT_EQ(input.payload.pieces.size(), 1u);
  std::vector<Number> numbers(input.payload.bytes / sizeof(Number));
  std::memcpy(numbers.data(), input.payload.pieces[0].data(), input.payload.bytes);
  return numbers;
}

TEST(MostRowTokens, IsTheLargestBucketOrTheFixedLength) {
  ModelSpec spec = SpecOf(DataType::kInt64, -1);
  EXPECT_EQ(MostRowTokens(spec, {0, 1, {}}), kUsualRowTokens);
  spec.pad = {{"input_ids", 0, {16, 64}, 0, {}}};
  EXPECT_EQ(MostRowTokens(spec, {0, 1, {}}), 64u);
  spec.pad.push_back({"attention_mask", 0, {32}, 0, {}});
  EXPECT_EQ(MostRowTokens(spec, {0, 1, {}}), 32u);
  EXPECT_EQ(MostRowTokens(SpecOf(DataType::kInt64, 9), {0, 1, {}}), 9u);
}

TEST(TokenTensors, PadShorterRowsWithTheRulesValue) {
  ModelSpec spec = SpecOf(DataType::kInt64, -1);
  spec.inputs.push_back({"token_type_ids", DataType::kInt64, {-1}});
  spec.pad = {{"input_ids", 0, {16}, 7, {}}};
  std::vector<text::Encoding> encodings = {RowOf({1, 2, 3}), RowOf({4})};
  encodings[0].type_ids[2] = 1;
  TokenRows rows;
  PutTensors(encodings, spec, {0, 1, 2}, &rows);
  ASSERT_EQ(rows.message.inputs.size(), 3u);
  EXPECT_EQ(rows.message.inputs[0].name, "input_ids");
  EXPECT_EQ(rows.message.inputs[0].datatype, "INT64");
  for (const InputMessage& input : rows.message.inputs) {
    EXPECT_EQ(input.dims, (std::vector<int64_t>{2, 3}));
    EXPECT_TRUE(input.has_data);
  }
  EXPECT_EQ(NumbersOf<int64_t>(rows.message.inputs[0]), (std::vector<int64_t>{1, 2, 3, 4, 7, 7}));
  EXPECT_EQ(NumbersOf<int64_t>(rows.message.inputs[1]), (std::vector<int64_t>{1, 1, 1, 1, 0, 0}));
  EXPECT_EQ(NumbersOf<int64_t>(rows.message.inputs[2]), (std::vector<int64_t>{0, 0, 1, 0, 0, 0}));
}

TEST(TokenTensors, AreAsLongAsAFixedModelWants) {
  TokenRows rows;
  PutTensors(std::vector<text::Encoding>{RowOf({1, 2})}, SpecOf(DataType::kInt32, 3), {0, 1, {}},
             &rows);
  ASSERT_EQ(rows.message.inputs.size(), 2u);
  EXPECT_EQ(rows.message.inputs[0].datatype, "INT32");
  EXPECT_EQ(NumbersOf<int32_t>(rows.message.inputs[0]), (std::vector<int32_t>{1, 2, 0}));
  EXPECT_EQ(NumbersOf<int32_t>(rows.message.inputs[1]), (std::vector<int32_t>{1, 1, 0}));
}

}  // namespace
}  // namespace mpsd
