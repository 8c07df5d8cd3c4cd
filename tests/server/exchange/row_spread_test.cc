#include "server/exchange/row_spread.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>

namespace mpsd {
namespace {

TEST(RowSpread, EachTextGetsTheRowOfItsEqual) {
  Answer answer;
  answer.memory = reinterpret_cast<AnswerMemory*>(&answer);  // only compared
  answer.outputs.resize(2);
  answer.outputs[0].datatype = DataType::kUint16;
  answer.outputs[0].dims = {3, 2};
  answer.outputs[0].bytes = "aaaabbbbcccc";
  answer.outputs[1].datatype = DataType::kUint8;
  answer.outputs[1].dims = {3};
  answer.outputs[1].bytes = "xyz";
  std::deque<std::string> storage;
  ASSERT_TRUE(SpreadRows({0, 1, 0, 2, 2}, UINT64_MAX, &answer, &storage).ok());
  EXPECT_EQ(answer.outputs[0].dims, (Dims{5, 2}));
  EXPECT_EQ(answer.outputs[0].bytes, "aaaabbbbaaaacccccccc");
  EXPECT_EQ(answer.outputs[1].dims, (Dims{5}));
  EXPECT_EQ(answer.outputs[1].bytes, "xyxzz");
  EXPECT_EQ(answer.memory, nullptr);
}

TEST(RowSpread, NoMoreBytesThanAnAnswerMayHave) {
  const auto spread = [](uint64_t bytes_max) {
    Answer answer;
    answer.outputs.resize(2);
    for (AnswerOutput& output : answer.outputs) {
      output.datatype = DataType::kUint8;
      output.dims = {1, 4};
      output.bytes = "aaaa";
    }
    std::deque<std::string> storage;
    return SpreadRows({0, 0, 0}, bytes_max, &answer, &storage);
  };
  EXPECT_TRUE(spread(24).ok());  // two outputs of three rows of four bytes
  EXPECT_TRUE(absl::IsResourceExhausted(spread(23)));
  EXPECT_TRUE(absl::IsResourceExhausted(spread(11)));
}

TEST(RowSpread, RowsOfBytesDifferInLength) {
  const std::string rows("\1\0\0\0a\2\0\0\0bc\0\0\0\0\3\0\0\0def", 22);
  Answer answer;
  answer.outputs.resize(1);
  answer.outputs[0].datatype = DataType::kBytes;
  answer.outputs[0].dims = {2, 2};
  answer.outputs[0].bytes = rows;
  std::deque<std::string> storage;
  ASSERT_TRUE(SpreadRows({1, 0, 1}, UINT64_MAX, &answer, &storage).ok());
  EXPECT_EQ(answer.outputs[0].bytes, rows.substr(11) + rows);
  EXPECT_EQ(answer.outputs[0].dims, (Dims{3, 2}));
}

TEST(RowSpread, ALengthThatAWorkerChangedAfterTheCheckIsAnError) {
  const std::string cases[] = {std::string("\1\0\0\0a\5\0\0\0bc", 11),  // longer than what is left
                               std::string("\1\0\0\0a\2\0", 7),         // cut off in its length
                               std::string("\xFF\xFF\xFF\xFF"
                                           "a",
                                           5)};
  for (const std::string& bytes : cases) {
    Answer answer;
    answer.outputs.resize(1);
    answer.outputs[0].name = "y";
    answer.outputs[0].datatype = DataType::kBytes;
    answer.outputs[0].dims = {2};
    answer.outputs[0].bytes = bytes;
    std::deque<std::string> storage;
    const absl::Status status = SpreadRows({0, 1, 0}, UINT64_MAX, &answer, &storage);
    EXPECT_EQ(status, absl::InternalError("the bytes of output 'y' are not those of its rows"));
  }
}

}  // namespace
}  // namespace mpsd
