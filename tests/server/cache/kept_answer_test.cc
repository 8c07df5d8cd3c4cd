#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "server/cache/response_cache.h"

namespace mpsd {
namespace {

AnswerOutput Output(absl::string_view name, Dims dims, absl::string_view bytes) {
  AnswerOutput output;
  output.name = name;
  output.datatype = DataType::kUint8;
  output.dims = std::move(dims);
  output.bytes = bytes;
  return output;
}

TEST(KeptAnswer, OutlivesWhatItWasCopiedFrom) {
  std::string first = "abc";
  std::string second = "defg";
  Answer answer;
  answer.outputs = {Output("x", {1, 3}, first), Output("none", {1, 0}, ""),
                    Output("y", {2, 2}, second)};
  const KeptAnswer kept(answer);
  first = second = "????";
  const Answer view = kept.View();
  ASSERT_EQ(view.outputs.size(), 3u);
  EXPECT_EQ(view.memory, nullptr);
  EXPECT_EQ(view.outputs[0].name, "x");
  EXPECT_EQ(view.outputs[0].bytes, "abc");
  EXPECT_EQ(view.outputs[0].dims, (Dims{1, 3}));
  EXPECT_EQ(view.outputs[1].bytes, "");
  EXPECT_EQ(view.outputs[2].bytes, "defg");
  EXPECT_EQ(view.outputs[2].datatype, DataType::kUint8);
}

TEST(KeptAnswer, TakesMoreThanItsBytes) {
  Answer answer;
  const std::string bytes(10'000, 'x');
  answer.outputs = {Output("x", {10'000}, bytes)};
  EXPECT_GT(KeptAnswer::BytesOf(answer), 10'000u + sizeof(AnswerOutput));
  EXPECT_GT(KeptAnswer::BytesOf(Answer()), sizeof(KeptAnswer));
}

}  // namespace
}  // namespace mpsd
