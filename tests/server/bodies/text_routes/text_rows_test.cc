#include "server/bodies/text_routes/text_rows.h"

#include <gmock/gmock.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "server/request/too_long.h"
#include "server/texts/text_encoder.h"
#include "tests/server/bodies/text_routes/text_models.h"

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr uint64_t kMostTextBytes = 1000;

class TextRowsTest : public testing::Test {
 protected:
  absl::Status Take(size_t first, size_t count) {
    const absl::Status status = rows_.Take(request_, embedder_, first, count);
    if (status.ok()) rows_.Fill(request_, embedder_, &message_);
    return status;
  }
  std::string Bytes(size_t input) const {
    std::string bytes;
    for (const auto piece : message_.inputs[input].payload.pieces)
      bytes.append(piece.data(), piece.size());
    return bytes;
  }
  std::vector<int64_t> Numbers(size_t input) const {
    const std::string bytes = Bytes(input);
    std::vector<int64_t> numbers(bytes.size() / sizeof(int64_t));
    std::memcpy(numbers.data(), bytes.data(), bytes.size());
    return numbers;
  }

  const TextModel embedder_ = *TextModelOf(ServedEmbedder("m"));
  const TextModel reranker_ = *TextModelOf(ServedScorer("r"));
  const TextModel classifier_ = *TextModelOf(ServedScorer("c", 3));
  TextRequest request_;
  TextRows rows_;
  InferMessage message_;
};

TEST_F(TextRowsTest, CountsWhatAModelComputes) {
  request_.texts = {"a", "hi", "hi", std::string(1000, 'x')};
  ASSERT_TRUE(Take(0, 3).ok());
  EXPECT_EQ(rows_.distinct_count(), 2u);
  EXPECT_EQ(rows_.work(), 4u + 1 + 4 + 2);
  EXPECT_EQ(message_.texts.own_work, rows_.work());
  ASSERT_TRUE(Take(3, 1).ok());
  EXPECT_EQ(rows_.work(), 4u + 8 * 4) << "a row has eight tokens at most";
  request_ = {};
  request_.tokens = {{1, 2, 3}, {1, 2, 3}};
  ASSERT_TRUE(Take(0, 2).ok());
  EXPECT_EQ(rows_.distinct_count(), 2u);
  EXPECT_EQ(rows_.work(), 4u * (3 + 1) * 2);
}

TEST_F(TextRowsTest, TextsBecomeOneInput) {
  request_.texts = {"x", "hi", ""};
  ASSERT_TRUE(Take(1, 2).ok());
  ASSERT_EQ(message_.inputs.size(), 1u);
  EXPECT_EQ(message_.inputs[0].name, "text");
  EXPECT_EQ(message_.inputs[0].datatype, "BYTES");
  EXPECT_THAT(message_.inputs[0].dims, ElementsAre(2, 1));
  EXPECT_TRUE(message_.inputs[0].has_data);
  EXPECT_EQ(Bytes(0), std::string("\2\0\0\0hi\0\0\0\0", 10));
  EXPECT_THAT(message_.outputs, ElementsAre("sentence_embedding"));
  EXPECT_EQ(message_.texts.first_place, 1u);
  EXPECT_EQ(rows_.row_count(), 2u);
}

TEST_F(TextRowsTest, AQueryIsTheFirstTextOfEachPair) {
  request_.texts = {"q"};
  request_.pairs = {"a", "b"};
  request_.wishes.cut_side = TextSide::kLeft;
  ASSERT_TRUE(Take(0, 2).ok());
  ASSERT_EQ(message_.inputs.size(), 2u);
  EXPECT_EQ(Bytes(0), std::string("\1\0\0\0q\1\0\0\0q", 10));
  EXPECT_EQ(message_.inputs[1].name, "text_pair");
  EXPECT_EQ(Bytes(1), std::string("\1\0\0\0a\1\0\0\0b", 10));
  EXPECT_EQ(message_.texts.cut_side, TextSide::kLeft);
}

TEST_F(TextRowsTest, TokensBecomeTheModelsInputs) {
  request_.tokens = {{5, 6, 7}, {8}};
  ASSERT_TRUE(Take(0, 2).ok());
  ASSERT_EQ(message_.inputs.size(), 2u);
  EXPECT_EQ(message_.inputs[0].name, "input_ids");
  EXPECT_THAT(message_.inputs[0].dims, ElementsAre(2, 3));
  EXPECT_THAT(Numbers(0), ElementsAre(5, 6, 7, 8, 0, 0));
  EXPECT_THAT(Numbers(1), ElementsAre(1, 1, 1, 1, 0, 0));
  EXPECT_EQ(rows_.token_count(), 4u);
  EXPECT_EQ(rows_.truncated(), 0u);
}

TEST_F(TextRowsTest, LongRowsOfTokensAreCutOrRefused) {
  request_.tokens = {{1}, {1, 2, 3, 4, 5, 6, 7, 8, 9}};
  ASSERT_TRUE(Take(1, 1).ok());
  EXPECT_THAT(Numbers(0), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_EQ(rows_.truncated(), 1u);
  EXPECT_EQ(rows_.token_count(), 8u);
  request_.wishes.cut_side = TextSide::kLeft;
  ASSERT_TRUE(Take(1, 1).ok());
  EXPECT_EQ(Numbers(0).front(), 2);
  request_.wishes.cut_side.reset();
  TextPolicy policy;
  policy.cut_side = TextSide::kLeft;
  embedder_.served->texts = std::make_shared<const TextEncoder>(
      *text::Tokenizer::FromVocabulary("[PAD]\n[UNK]\n[CLS]\n[SEP]\na\nb\nc\nd\ne\nf\n",
                                       /*lowers_case=*/true),
      policy);
  ASSERT_TRUE(Take(1, 1).ok());
  EXPECT_EQ(Numbers(0).front(), 2);
  request_.wishes.long_input = LongInput::kError;
  const absl::Status status = Take(1, 1);
  EXPECT_TRUE(IsTooLong(status));
  EXPECT_EQ(status.message(), "text 1: it has 9 tokens, but at most 8 are served");
}

TEST_F(TextRowsTest, RawScoresAreTheLogits) {
  request_.texts = {"q"};
  request_.pairs = {"a"};
  ASSERT_TRUE(rows_.Take(request_, reranker_, 0, 1).ok());
  rows_.Fill(request_, reranker_, &message_);
  EXPECT_THAT(message_.outputs, ElementsAre("scores"));
  request_.raw_scores = true;
  rows_.Fill(request_, reranker_, &message_);
  EXPECT_THAT(message_.outputs, ElementsAre("logits"));
}

TEST_F(TextRowsTest, RowsAreUsedAgain) {
  request_.tokens = {{5}};
  ASSERT_TRUE(Take(0, 1).ok());
  request_ = TextRequest();
  request_.texts = {"a"};
  ASSERT_TRUE(Take(0, 1).ok());
  ASSERT_EQ(message_.inputs.size(), 1u);
  EXPECT_EQ(message_.inputs[0].name, "text");
  EXPECT_EQ(rows_.token_count(), 0u);
}

TEST_F(TextRowsTest, EachRouteAsksModelsOfItsTask) {
  request_.texts = {"a"};
  const auto takes = [this](TextRoute route, const TextModel& model) {
    return CheckTextRequest(route, request_, model, kMostTextBytes).ok();
  };
  for (const TextRoute route : {TextRoute::kEmbeddings, TextRoute::kEmbed, TextRoute::kOllama}) {
    EXPECT_TRUE(takes(route, embedder_));
    EXPECT_FALSE(takes(route, reranker_));
  }
  EXPECT_TRUE(takes(TextRoute::kRerank, reranker_));
  EXPECT_FALSE(takes(TextRoute::kRerank, embedder_));
  EXPECT_FALSE(takes(TextRoute::kRerank, classifier_));
  EXPECT_TRUE(takes(TextRoute::kPredict, classifier_));
  EXPECT_TRUE(takes(TextRoute::kPredict, reranker_));
  EXPECT_FALSE(takes(TextRoute::kPredict, embedder_));
}

TEST_F(TextRowsTest, NoMoreDimensionsThanAVectorHas) {
  request_.texts = {"a"};
  request_.dimensions = 3;
  EXPECT_TRUE(CheckTextRequest(TextRoute::kEmbed, request_, embedder_, kMostTextBytes).ok());
  request_.dimensions = 4;
  const absl::Status status =
      CheckTextRequest(TextRoute::kEmbed, request_, embedder_, kMostTextBytes);
  EXPECT_THAT(std::string(status.message()), HasSubstr("from 1 to 3"));
}

TEST_F(TextRowsTest, ALongQueryCountsOnceForEachDocument) {
  request_.texts = {std::string(400, 'q')};
  request_.pairs = {"a", "b"};
  EXPECT_TRUE(CheckTextRequest(TextRoute::kRerank, request_, reranker_, kMostTextBytes).ok());
  request_.pairs = {"a", "b", "c"};
  EXPECT_TRUE(IsTooLong(CheckTextRequest(TextRoute::kRerank, request_, reranker_, kMostTextBytes)));
}

TEST_F(TextRowsTest, OneLongRowOfTokensCountsForAll) {
  request_.tokens.assign(6, {1});
  EXPECT_TRUE(CheckTextRequest(TextRoute::kEmbed, request_, embedder_, kMostTextBytes).ok());
  request_.tokens[0].assign(100, 1);
  EXPECT_TRUE(IsTooLong(CheckTextRequest(TextRoute::kEmbed, request_, embedder_, kMostTextBytes)));
}

TEST_F(TextRowsTest, TokensMustBeThoseOfTheTokenizer) {
  const TextModel model = *TextModelOf(ServedEmbedder("m"));
  model.served->texts = std::make_shared<const TextEncoder>(
      *text::Tokenizer::FromVocabulary("[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n", /*lowers_case=*/true),
      TextPolicy());
  request_.tokens = {{2, 4, 3}, {0}};
  EXPECT_TRUE(CheckTextRequest(TextRoute::kEmbed, request_, model, kMostTextBytes).ok());
  request_.tokens[1] = {1, 5};
  EXPECT_EQ(CheckTextRequest(TextRoute::kEmbed, request_, model, kMostTextBytes),
            absl::InvalidArgumentError("text 1: model 'm' has no token 5, only 0 to 4"));
  EXPECT_TRUE(CheckTextRequest(TextRoute::kEmbed, request_, embedder_, kMostTextBytes).ok());
}

}  // namespace
}  // namespace mpsd
