#include "server/bodies/text_routes/text_reply.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "tests/server/bodies/text_routes/text_models.h"

namespace mpsd {
namespace {

constexpr size_t kMostReplyBytes = 1 << 20;

// An answer with a row of `width` numbers for each text.
Answer AnswerOf(const std::vector<float>& numbers, int64_t rows, int64_t width) {
  Answer answer;
  AnswerOutput& output = answer.outputs.emplace_back();
  output.name = "y";
  output.datatype = DataType::kFp32;
  output.dims = {rows, width};
  output.bytes = {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float)};
  return answer;
}

class TextReplyTest : public testing::Test {
 protected:
  // The body for these numbers, or the text of the refusal.
  std::string Body(TextRoute route, const TextModel& model, const std::vector<float>& numbers,
                   size_t rows, size_t most_bytes = kMostReplyBytes) {
    TextValues values;
    const auto width = static_cast<int64_t>(numbers.size() / rows);
    EXPECT_TRUE(values.Add(AnswerOf(numbers, static_cast<int64_t>(rows), width), rows).ok());
    std::string json;
    const absl::Status status =
        WriteTextReply(route, request_, model, {7, 1234, "i"}, most_bytes, &values, &json);
    return status.ok() ? json : std::string(status.message());
  }

  const TextModel embedder_ = *TextModelOf(ServedEmbedder("m"));
  const TextModel reranker_ = *TextModelOf(ServedScorer("r"));
  const TextModel classifier_ = *TextModelOf(ServedScorer("c", 3));
  TextRequest request_;
};

TEST_F(TextReplyTest, EmbeddingsOfOpenAi) {
  EXPECT_EQ(Body(TextRoute::kEmbeddings, embedder_, {3, 4, 0, 0.6F, 0, -0.8F}, 2),
            R"({"object":"list","data":[)"
            R"({"object":"embedding","index":0,"embedding":[0.6,0.8,0.0]},)"
            R"({"object":"embedding","index":1,"embedding":[0.6,0.0,-0.8]}],)"
            R"("model":"m","usage":{"prompt_tokens":7,"total_tokens":7}})");
}

TEST_F(TextReplyTest, Base64IsThatOfLittleEndianFloats) {
  request_.as_base64 = true;
  const std::string body = Body(TextRoute::kEmbeddings, embedder_, {1, 0, 0}, 1);
  EXPECT_NE(body.find(R"("embedding":"AACAPwAAAAAAAAAA"})"), std::string::npos) << body;
}

TEST_F(TextReplyTest, FewerDimensionsHaveLengthOneAgain) {
  request_.dimensions = 2;
  EXPECT_EQ(Body(TextRoute::kEmbed, embedder_, {3, 4, 12}, 1), "[[0.6,0.8]]");
  request_.normalizes = false;
  EXPECT_EQ(Body(TextRoute::kEmbed, embedder_, {3, 4, 12}, 1), "[[3.0,4.0]]");
  request_.dimensions = 4;
  EXPECT_EQ(Body(TextRoute::kEmbed, embedder_, {3, 4, 12}, 1), "'dimensions' must be from 1 to 3");
}

TEST_F(TextReplyTest, AVectorOfZerosStaysSo) {
  EXPECT_EQ(Body(TextRoute::kEmbed, embedder_, {0, 0}, 1), "[[0.0,0.0]]");
}

TEST_F(TextReplyTest, NumbersHaveTheFewestDigitsThatReadBack) {
  request_.normalizes = false;
  EXPECT_EQ(Body(TextRoute::kEmbed, embedder_, {0.1F, 1e-20F, 16777216.0F, -0.0F}, 1),
            "[[0.1,1e-20,16777216.0,-0.0]]");
}

TEST_F(TextReplyTest, EmbeddingsOfOllama) {
  EXPECT_EQ(Body(TextRoute::kOllama, embedder_, {3, 4}, 1),
            R"({"model":"m","embeddings":[[0.6,0.8]],"total_duration":1234,"load_duration":0,)"
            R"("prompt_eval_count":7})");
}

TEST_F(TextReplyTest, TheHighestScoreIsFirstAndOfEqualOnesTheFirst) {
  request_.pairs = {"a", "b", "c", "d"};
  EXPECT_EQ(Body(TextRoute::kRerank, reranker_, {0.5F, 0.9F, 0.5F, 0.1F}, 4),
            R"({"id":"i","model":"r","results":[{"index":1,"relevance_score":0.9},)"
            R"({"index":0,"relevance_score":0.5},{"index":2,"relevance_score":0.5},)"
            R"({"index":3,"relevance_score":0.1}],"usage":{"prompt_tokens":7,"total_tokens":7}})");
}

TEST_F(TextReplyTest, TheFirstScoresWithTheirDocuments) {
  request_.pairs = {"a", "b"};
  request_.top_count = 1;
  request_.returns_texts = true;
  const std::string body = Body(TextRoute::kRerank, reranker_, {0.25F, 0.5F}, 2);
  EXPECT_NE(body.find(R"("results":[{"index":1,"relevance_score":0.5,"document":{"text":"b"}}],)"),
            std::string::npos)
      << body;
}

TEST_F(TextReplyTest, ScoresOfTei) {
  request_.pairs = {"a", "b"};
  request_.is_tei = true;
  EXPECT_EQ(Body(TextRoute::kRerank, reranker_, {0.25F, 0.5F}, 2),
            R"([{"index":1,"score":0.5},{"index":0,"score":0.25}])");
  request_.returns_texts = true;
  EXPECT_EQ(Body(TextRoute::kRerank, reranker_, {0.25F, 0.5F}, 2),
            R"([{"index":1,"score":0.5,"text":"b"},{"index":0,"score":0.25,"text":"a"}])");
}

TEST_F(TextReplyTest, ClassesOfARowAndOfAList) {
  classifier_.served->labels["scores"] = {"bad", "good", "so so"};
  request_.is_list = false;
  EXPECT_EQ(Body(TextRoute::kPredict, classifier_, {0.25F, 0.5F, 0.25F}, 1),
            R"([{"label":"good","score":0.5},{"label":"bad","score":0.25},)"
            R"({"label":"so so","score":0.25}])");
  request_.is_list = true;
  EXPECT_EQ(Body(TextRoute::kPredict, reranker_, {0.5F, 0.25F}, 2),
            R"([[{"label":"LABEL_0","score":0.5}],[{"label":"LABEL_0","score":0.25}]])");
}

TEST_F(TextReplyTest, ALargeAnswerIsRefused) {
  EXPECT_EQ(Body(TextRoute::kEmbed, embedder_, {3, 4}, 1, 5),
            "the answer has more than 5 bytes (limits.message)");
}

TEST(TextValues, RowsOfSeveralAnswersFollowEachOther) {
  const std::vector<float> first = {1, 2};
  const std::vector<float> second = {3};
  TextValues values;
  ASSERT_TRUE(values.Add(AnswerOf(first, 2, 1), 2).ok());
  ASSERT_TRUE(values.Add(AnswerOf(second, 1, 1), 1).ok());
  EXPECT_EQ(values.row_count(), 3u);
  std::vector<float> row;
  for (const float wanted : {1.0F, 2.0F, 3.0F}) {
    values.Next(&row);
    EXPECT_EQ(row, std::vector<float>{wanted});
  }
}

TEST(TextValues, RefusesAnswersThatAreNoRows) {
  const std::vector<float> numbers = {1, 2, 3, 4};
  const auto code = [&](Answer answer, size_t rows) {
    TextValues values;
    return values.Add(answer, rows).code();
  };
  EXPECT_EQ(code(AnswerOf(numbers, 2, 2), 2), absl::StatusCode::kOk);
  EXPECT_EQ(code(AnswerOf(numbers, 2, 2), 4), absl::StatusCode::kInternal);
  EXPECT_EQ(code(Answer(), 1), absl::StatusCode::kInternal);
  Answer halves = AnswerOf(numbers, 2, 2);
  halves.outputs[0].datatype = DataType::kFp16;
  EXPECT_EQ(code(halves, 2), absl::StatusCode::kInternal);
  Answer deep = AnswerOf(numbers, 2, 2);
  deep.outputs[0].dims = {2, 1, 2};
  EXPECT_EQ(code(deep, 2), absl::StatusCode::kInternal);
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    EXPECT_EQ(code(AnswerOf({1, bad}, 1, 2), 1), absl::StatusCode::kInternal);
  }
}

}  // namespace
}  // namespace mpsd
