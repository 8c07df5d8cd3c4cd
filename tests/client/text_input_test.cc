#include "client/format/text_input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/fakes/work_folder.h"

namespace mpsd::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(TextInput, EachLineIsAText) {
  EXPECT_THAT(SplitLines(""), IsEmpty());
  EXPECT_THAT(SplitLines("\n"), ElementsAre(""));
  EXPECT_THAT(SplitLines("a\nb c\r\n\nd"), ElementsAre("a", "b c", "", "d"));
  EXPECT_THAT(SplitLines("a\n"), ElementsAre("a"));
}

TEST(TextInput, TheLinesOfAFileComeBehindTheWords) {
  const WorkFolder folder;
  const std::string path = folder.Write("texts", "b\nc\n");
  EXPECT_THAT(*ReadTexts({"a"}, path), ElementsAre("a", "b", "c"));
  EXPECT_THAT(*ReadTexts({"a"}, ""), ElementsAre("a"));
  EXPECT_EQ(ReadTexts({}, path + ".none").status().code(), absl::StatusCode::kNotFound);
}

TEST(TextInput, ATextOfAnotherEncodingIsRefusedByItsPlace) {
  const WorkFolder folder;
  const std::string latin1 = folder.Write("texts", "na\xc3\xafve\nna\xefve\n");
  EXPECT_THAT(ReadTexts({"a"}, latin1).status().ToString(),
              HasSubstr(latin1 + ": line 2 is not in UTF-8"));
  EXPECT_THAT(ReadTexts({"a", "\xff"}, "").status().ToString(),
              HasSubstr(": text 2 is not in UTF-8"));
}

TEST(TextInput, ARequestHasSoManyRowsAtMost) {
  const std::vector<std::string> texts(kMostRequestRows + 1, "a");
  EXPECT_EQ(RequestRows(texts, 0, 1000), kMostRequestRows);
  EXPECT_EQ(RequestRows(absl::MakeConstSpan(texts).first(3), 0, 1000), 3U);
}

TEST(TextInput, ARequestHasSoManyBytesAtMost) {
  const std::vector<std::string> texts = {"12345", "12345", "12345"};
  EXPECT_EQ(RequestRows(texts, 0, 15), 3U);
  EXPECT_EQ(RequestRows(texts, 0, 14), 2U);
  EXPECT_EQ(RequestRows(texts, 2, 15), 2U);
  EXPECT_EQ(RequestRows(texts, 0, 1), 1U);
}

}  // namespace
}  // namespace mpsd::cli
