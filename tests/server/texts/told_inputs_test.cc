#include "server/texts/told_inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "server/texts/text_encoder.h"

namespace mpsd {
namespace {

using testing::ElementsAre;

// "input_ids:INT64[-1]", with a question mark where it may be left out.
std::vector<std::string> ToldTexts(const ServedModel& model) {
  std::vector<std::string> texts;
  for (const TensorSpec& input : ToldInputs(model)) {
    texts.push_back(TensorText(input) + (input.optional ? "?" : ""));
  }
  return texts;
}

class ToldInputsTest : public testing::Test {
 protected:
  ToldInputsTest() {
    model_.spec.max_batch_size = 4;
    model_.spec.inputs = {{"input_ids", DataType::kInt64, {-1}},
                          {"attention_mask", DataType::kInt64, {-1}}};
    model_.texts = std::make_shared<const TextEncoder>(
        *text::Tokenizer::FromVocabulary("[UNK]\n[CLS]\n[SEP]\n", true), TextPolicy());
  }

  ServedModel model_;
};

TEST_F(ToldInputsTest, OfAModelThatTakesTextsAreTextsOrTokens) {
  EXPECT_THAT(ToldTexts(model_), ElementsAre("text:BYTES[1]", "text_pair:BYTES[1]?",
                                             "input_ids:INT64[-1]?", "attention_mask:INT64[-1]?"));
}

TEST_F(ToldInputsTest, WithoutATokenizerAreTheModels) {
  model_.texts = absl::NotFoundError("no file");
  EXPECT_THAT(ToldTexts(model_), ElementsAre("input_ids:INT64[-1]", "attention_mask:INT64[-1]"));
}

TEST_F(ToldInputsTest, OfAModelWithoutTokensAreTheModels) {
  model_.spec.inputs.pop_back();
  EXPECT_THAT(ToldTexts(model_), ElementsAre("input_ids:INT64[-1]"));
}

}  // namespace
}  // namespace mpsd
