#include "client/cli/text_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "client/format/npy.h"
#include "client/format/table.h"

namespace mpsd::cli {
namespace {

using client::Embeddings;
using client::Ranking;
using client::Tokens;
using testing::HasSubstr;
using Json = nlohmann::json;

const Embeddings kVectors{2, {0.1F, 0, 3, 4}, 7};
const Ranking kRanking{{0.25, 2, 0.5}, 12};
const Tokens kTokens{{{101, true, "[CLS]"}, {7, false, ""}}, {}};

TEST(TextReport, ShowsAVectorByItsNormAndFirstValues) {
  EXPECT_EQ(EmbedText({"m", "", {"a b", "c"}}, kVectors),
            "ROW  TEXT  DIMS    NORM  FIRST VALUES\n"
            "  1  a b      2  0.1000  +0.1000 +0.0000\n"
            "  2  c        2  5.0000  +3.0000 +4.0000\n"
            "\nmodel m, 7 tokens\n");
}

TEST(TextReport, WritesVectorsWithTheFewestDigits) {
  EXPECT_EQ(EmbedJson({"m", "", {"a \"b\"", "\xff"}, 1}, kVectors),
            "{\"model\":\"m\",\"tokens\":7,\"truncated_texts\":1,\"embeddings\":["
            "{\"text\":\"a \\\"b\\\"\",\"embedding\":[0.1,0.0]},"
            "{\"text\":\"\xEF\xBF\xBD\",\"embedding\":[3.0,4.0]}]}\n");
}

TEST(TextReport, AnArrayHasARowForEachText) {
  const auto file = EmbedNpy(kVectors);
  ASSERT_TRUE(file.ok()) << file.status();
  const auto array = ParseNpy(*file);
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_EQ(array->datatype, DataType::kFp32);
  EXPECT_EQ(array->shape, (Dims{2, 2}));
  EXPECT_EQ(array->bytes.size(), 16U);
}

TEST(TextReport, ShowsTheBestDocumentsFirst) {
  const SentTexts sent{"r", "q", {"one", "two\nlines", "three"}};
  EXPECT_EQ(RerankText(sent, kRanking, 2),
            "RANK  ROW  SCORE  DOCUMENT\n"
            "   1    2      2  two lines\n"
            "   2    3    0.5  three\n"
            "\nmodel r, 12 tokens\n");
  const Json report = Json::parse(RerankJson(sent, kRanking, 0));
  EXPECT_EQ(report["query"], "q");
  ASSERT_EQ(report["results"].size(), 3U);
  EXPECT_EQ(report["results"][0], Json({{"index", 1}, {"score", 2.0}, {"document", "two\nlines"}}));
  EXPECT_EQ(report["results"][2]["index"], 0);
}

TEST(TextReport, ShowsEachToken) {
  const SentTexts sent{"m", "", {"a", ""}};
  EXPECT_EQ(TokenizeText(sent, kTokens),
            "ROW  PLACE   ID  PIECE  SPECIAL\n"
            "  1      1  101  [CLS]  yes\n"
            "  1      2    7  -\n"
            "\nmodel m, 2 tokens\n");
  const Json report = Json::parse(TokenizeJson(sent, kTokens));
  EXPECT_EQ(report["rows"][0]["tokens"][0],
            Json({{"id", 101}, {"piece", "[CLS]"}, {"special", true}}));
  EXPECT_TRUE(report["rows"][0]["tokens"][1]["piece"].is_null());
  EXPECT_EQ(report["rows"][1], Json({{"text", ""}, {"tokens", Json::array()}}));
}

TEST(Table, ACellIsShortAndOnOneLine) {
  EXPECT_EQ(ShortCell("a\tb\n"), "a b ");
  EXPECT_EQ(ShortCell(std::string(40, 'a')), std::string(40, 'a'));
  EXPECT_EQ(ShortCell(std::string(39, 'a') + "éé"), std::string(39, 'a') + "…");
  EXPECT_EQ(ShortCell("abcd", 3), "abc…");
}

}  // namespace
}  // namespace mpsd::cli
