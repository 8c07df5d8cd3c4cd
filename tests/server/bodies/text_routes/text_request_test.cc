#include "server/bodies/text_routes/text_request.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/request/too_long.h"

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr size_t kMostRows = 3;

class TextRequestTest : public testing::Test {
 protected:
  absl::Status Read(TextRoute route, const std::string& body) {
    request_ = TextRequest();
    return ReadTextRequest(route, body, kMostRows, &request_);
  }
  absl::Status Embeddings(const std::string& fields) {
    return Read(TextRoute::kEmbeddings, "{" + fields + "}");
  }
  void ExpectRefused(TextRoute route, const std::string& body, const std::string& why) {
    const absl::Status status = Read(route, body);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << body;
    EXPECT_THAT(std::string(status.message()), HasSubstr(why)) << body;
  }

  TextRequest request_;
};

TEST_F(TextRequestTest, InputIsATextOrAListOfTexts) {
  ASSERT_TRUE(Embeddings(R"("model":"m","input":"a\u00e4")").ok());
  EXPECT_EQ(request_.model, "m");
  EXPECT_THAT(request_.texts, ElementsAre("a\u00e4"));
  ASSERT_TRUE(Embeddings(R"("input":["a","","c"])").ok());
  EXPECT_THAT(request_.texts, ElementsAre("a", "", "c"));
  EXPECT_EQ(request_.row_count(), 3u);
  EXPECT_THAT(request_.tokens, IsEmpty());
}

TEST_F(TextRequestTest, InputIsARowOfTokensOrAListOfRows) {
  ASSERT_TRUE(Embeddings(R"("input":[5,6])").ok());
  EXPECT_THAT(request_.tokens, ElementsAre(ElementsAre(5, 6)));
  ASSERT_TRUE(Embeddings(R"("input":[[5,6],[7]])").ok());
  EXPECT_THAT(request_.tokens, ElementsAre(ElementsAre(5, 6), ElementsAre(7)));
  EXPECT_EQ(request_.row_count(), 2u);
}

TEST_F(TextRequestTest, RefusesWhatIsNoInput) {
  const auto refused = [this](const std::string& input, const std::string& why) {
    ExpectRefused(TextRoute::kEmbeddings, R"({"input":)" + input + "}", why);
  };
  refused("[]", "it is empty");
  refused("null", "non-existing object member 'input'");
  refused("[[]]", "a row of tokens is empty");
  refused(R"(["a",1])", "its elements are of several types");
  refused(R"([[1],"a"])", "its elements are of several types");
  refused(R"([["a"]])", "non-unsigned-integer");
  refused("[-1]", "non-unsigned-integer");
  refused("[1.5]", "non-unsigned-integer");
  refused("[2147483648]", "the token id 2147483648 is too large");
  refused("7", "non-array");
  refused("[true]", "non-string");
  refused("[\"\xff\"]", "failed to parse");
  ExpectRefused(TextRoute::kEmbeddings, "[]", "");
  ExpectRefused(TextRoute::kEmbeddings, "", "");
}

TEST_F(TextRequestTest, MoreRowsThanAllowedAreTooLong) {
  for (const char* body : {R"({"input":["a","b","c","d"]})", R"({"input":[[1],[2],[3],[4]]})"}) {
    EXPECT_TRUE(IsTooLong(Read(TextRoute::kEmbeddings, body))) << body;
  }
  EXPECT_TRUE(Embeddings(R"("input":[1,2,3,4,5])").ok()) << "that is one row";
  EXPECT_TRUE(
      IsTooLong(Read(TextRoute::kRerank, R"({"query":"q","documents":["a","b","c","d"]})")));
  EXPECT_TRUE(IsTooLong(Read(TextRoute::kPredict, R"({"inputs":[["a"],["b"],["c"],["d"]]})")));
}

TEST_F(TextRequestTest, OptionsOfEmbeddings) {
  ASSERT_TRUE(Embeddings(R"("input":"a","encoding_format":"base64","dimensions":2,"user":"u",)"
                         R"("truncate":false,"prompt_name":null,"unknown":{"a":[1,"b"]})")
                  .ok());
  EXPECT_TRUE(request_.as_base64);
  EXPECT_EQ(request_.dimensions, 2u);
  EXPECT_EQ(request_.wishes.long_input, LongInput::kError);
  EXPECT_TRUE(request_.normalizes);
  ASSERT_TRUE(Embeddings(R"("input":"a","encoding_format":"float","normalize":false)").ok());
  EXPECT_FALSE(request_.as_base64);
  EXPECT_FALSE(request_.wishes.long_input.has_value());
  EXPECT_TRUE(request_.normalizes) << "the field is TEI's";
  ExpectRefused(TextRoute::kEmbeddings, R"({"input":"a","encoding_format":"hex"})", "neither");
  ExpectRefused(TextRoute::kEmbeddings, R"({"input":"a","dimensions":0})", "at least 1");
  ExpectRefused(TextRoute::kEmbeddings, R"({"input":"a","input":"b"})", "comes twice");
}

TEST_F(TextRequestTest, RoutesOfVectorsNameAPrompt) {
  for (const auto& [route, key] :
       {std::pair(TextRoute::kEmbeddings, "input"), std::pair(TextRoute::kEmbed, "inputs"),
        std::pair(TextRoute::kOllama, "input")}) {
    const std::string rows = absl::StrCat("{\"", key, "\":\"a\",\"prompt_name\":");
    ASSERT_TRUE(Read(route, rows + "\"query\"}").ok());
    EXPECT_EQ(request_.wishes.prompt_name, "query");
    ASSERT_TRUE(Read(route, rows + "null}").ok());
    EXPECT_FALSE(request_.wishes.prompt_name.has_value());
    ExpectRefused(route, rows + "1}", "prompt_name");
    ExpectRefused(route, absl::StrCat(rows, "\"", std::string(129, 'x'), "\"}"), "it is too long");
    ExpectRefused(route, absl::StrCat("{\"prompt_name\":\"query\",\"", key, "\":[[1]]}"),
                  "rows of tokens have no prompt");
  }
  ASSERT_TRUE(
      Read(TextRoute::kRerank, R"({"query":"q","texts":["a"],"prompt_name":"query"})").ok());
  EXPECT_FALSE(request_.wishes.prompt_name.has_value());
}

TEST_F(TextRequestTest, OptionsOfTei) {
  ASSERT_TRUE(Read(TextRoute::kEmbed, R"({"inputs":["a"],"normalize":false,"truncate":true,)"
                                      R"("truncation_direction":"Left"})")
                  .ok());
  EXPECT_FALSE(request_.normalizes);
  EXPECT_EQ(request_.wishes.long_input, LongInput::kTruncate);
  EXPECT_EQ(request_.wishes.cut_side, TextSide::kLeft);
  ExpectRefused(TextRoute::kEmbed, R"({"inputs":"a","truncation_direction":"Up"})", "neither");
  ExpectRefused(TextRoute::kEmbed, R"({"input":"a"})", "'inputs'");
}

TEST_F(TextRequestTest, DocumentsAreTextsOrObjectsWithOne) {
  ASSERT_TRUE(Read(TextRoute::kRerank, R"({"documents":["a",{"id":[1],"text":"b"}],"query":"q",)"
                                       R"("top_n":1,"return_documents":true})")
                  .ok());
  EXPECT_THAT(request_.texts, ElementsAre("q"));
  EXPECT_THAT(request_.pairs, ElementsAre("a", "b"));
  EXPECT_EQ(request_.row_count(), 2u);
  EXPECT_EQ(request_.TextOf(1), "q");
  EXPECT_EQ(request_.top_count, 1u);
  EXPECT_TRUE(request_.returns_texts);
  EXPECT_FALSE(request_.is_tei);
}

TEST_F(TextRequestTest, TextsAreTheFormOfTei) {
  ASSERT_TRUE(Read(TextRoute::kRerank,
                   R"({"query":"q","texts":["a"],"raw_scores":true,"return_text":true})")
                  .ok());
  EXPECT_TRUE(request_.is_tei);
  EXPECT_TRUE(request_.raw_scores);
  EXPECT_TRUE(request_.returns_texts);
}

TEST_F(TextRequestTest, RefusesWhatIsNoRerank) {
  const auto refused = [this](const std::string& body, const std::string& why) {
    ExpectRefused(TextRoute::kRerank, body, why);
  };
  refused(R"({"documents":["a"]})", "'query'");
  refused(R"({"query":"q"})", "'documents'");
  refused(R"({"query":"q","documents":[]})", "'documents': it is empty");
  refused(R"({"query":"q","texts":[]})", "'texts': it is empty");
  refused(R"({"query":"q","documents":["a"],"texts":["a"]})", "both there");
  refused(R"({"query":"q","documents":[{"title":"a"}]})", "'text'");
  refused(R"({"query":"q","documents":["a"],"top_n":0})", "at least 1");
  refused(R"({"query":["q"],"documents":["a"]})", "non-string");
}

TEST_F(TextRequestTest, InputsOfPredictAreATextAPairOrAList) {
  ASSERT_TRUE(Read(TextRoute::kPredict, R"({"inputs":"a"})").ok());
  EXPECT_THAT(request_.texts, ElementsAre("a"));
  EXPECT_FALSE(request_.is_list);
  ASSERT_TRUE(Read(TextRoute::kPredict, R"({"inputs":["a","b"]})").ok());
  EXPECT_THAT(request_.texts, ElementsAre("a"));
  EXPECT_THAT(request_.pairs, ElementsAre("b"));
  EXPECT_FALSE(request_.is_list);
  ASSERT_TRUE(Read(TextRoute::kPredict, R"({"inputs":[["a"],["b"]]})").ok());
  EXPECT_THAT(request_.texts, ElementsAre("a", "b"));
  EXPECT_THAT(request_.pairs, IsEmpty());
  EXPECT_TRUE(request_.is_list);
  ASSERT_TRUE(Read(TextRoute::kPredict, R"({"inputs":[["a","b"],["c","d"]]})").ok());
  EXPECT_THAT(request_.pairs, ElementsAre("b", "d"));
}

TEST_F(TextRequestTest, RefusesWhatIsNoInputOfPredict) {
  const auto refused = [this](const std::string& inputs, const std::string& why) {
    ExpectRefused(TextRoute::kPredict, R"({"inputs":)" + inputs + "}", why);
  };
  refused("[]", "it is empty");
  refused("[[]]", "a text or a pair");
  refused(R"(["a","b","c"])", "a text or a pair");
  refused(R"([["a"],["b","c"]])", "single texts and pairs");
  refused(R"([["a"],"b"])", "several types");
  refused("[1]", "non-array");
}

}  // namespace
}  // namespace mpsd
