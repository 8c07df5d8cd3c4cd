#include "server/texts/text_step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/request/too_long.h"
#include "server/texts/text_encoder.h"
#include "tests/fakes/fake_clock.h"
#include "tests/server/admit/message_builder.h"

namespace mpsd {
namespace {

using testing::ElementsAre;

constexpr int64_t kHugeDims[] = {INT64_MAX, 1};

class TextStepTest : public testing::Test {
 protected:
  TextStepTest() {
    model_.name = "m";
    model_.spec.max_batch_size = 4;
    model_.spec.inputs = {{"input_ids", DataType::kInt64, {-1}},
                          {"attention_mask", DataType::kInt64, {-1}}};
    model_.spec.pad = {{"input_ids", 0, {4, 8}, 0, {}}};
    const auto tokenizer_of = [](const char* words) {
      return *text::Tokenizer::FromVocabulary(words, /*lowers_case=*/true);
    };
    model_.texts = std::make_shared<const TextEncoder>(
        tokenizer_of("[PAD]\n[UNK]\n[CLS]\n[SEP]\na\nb\nc\n"), TextPolicy());
  }

  // Gives the model the prompts of such a file.
  void TakePrompts(const std::string& json) {
    const auto prompts = Prompts::Parse(json);
    ASSERT_TRUE(prompts.ok()) << prompts.status();
    model_.texts = std::make_shared<const TextEncoder>(
        *text::Tokenizer::FromVocabulary("[PAD]\n[UNK]\n[CLS]\n[SEP]\na\nb\nc\n", true),
        TextPolicy(), /*strips=*/true, *prompts);
  }

  static TextWishes Wishing(const std::string& prompt_name) {
    TextWishes wishes;
    wishes.prompt_name = prompt_name;
    return wishes;
  }

  absl::StatusOr<std::shared_ptr<TokenRows>> Encode() {
    return EncodeTexts(*message_, model_, &clock_, [this] { return awaited_; });
  }
  std::string Refusal() { return std::string(Encode().status().message()); }

  // The numbers of the encoded message's input.
  static std::vector<int64_t> Numbers(const TokenRows& rows, size_t input) {
    const Payload& payload = rows.message.inputs[input].payload;
    std::vector<int64_t> numbers(payload.bytes / sizeof(int64_t));
    std::memcpy(numbers.data(), payload.pieces[0].data(), payload.bytes);
    return numbers;
  }

  FakeClock clock_;
  ServedModel model_;
  MessageBuilder message_;
  absl::Status awaited_;
};

TEST_F(TextStepTest, TextsBecomeRowsOfTokens) {
  message_.Strings("text", {"a b c", "b"}).Id("7").Wanted("y");
  ASSERT_TRUE(HasTexts(*message_, model_));
  const auto rows = Encode();
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_EQ((*rows)->message.id, "7");
  EXPECT_THAT((*rows)->message.outputs, ElementsAre("y"));
  EXPECT_EQ((*rows)->message.raw_count, 0u);
  ASSERT_EQ((*rows)->message.inputs.size(), 2u);
  EXPECT_THAT(Numbers(**rows, 0), ElementsAre(2, 4, 5, 6, 3, 2, 5, 3, 0, 0));
  EXPECT_THAT(Numbers(**rows, 1), ElementsAre(1, 1, 1, 1, 1, 1, 1, 1, 0, 0));
  EXPECT_EQ((*rows)->encoder, *model_.texts);
}

TEST_F(TextStepTest, PairsAreOneRowEach) {
  message_.Strings("text_pair", {"b", "c"}).Strings("text", {"a", "a"});
  const auto rows = Encode();
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_THAT(Numbers(**rows, 0), ElementsAre(2, 4, 3, 5, 3, 2, 4, 3, 6, 3));
}

TEST_F(TextStepTest, CountsTokensAndCutTexts) {
  message_.Strings("text", {"a b c a b c a b c", "a"});
  const auto rows = Encode();
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_EQ((*rows)->token_count, 11u);
  EXPECT_EQ((*rows)->truncated_texts, 1u);
  EXPECT_EQ(model_.metrics.text_tokens, 11u);
  EXPECT_EQ(model_.metrics.truncated_texts, 1u);
  EXPECT_EQ(model_.metrics.text_encoding.ReadSeconds().counts[0], 1u);
}

TEST_F(TextStepTest, EqualTextsAreOneRowAndAllCount) {
  message_.Strings("text", {"a b", "c", "a b", "a b"});
  const auto rows = Encode();
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_THAT((*rows)->dims, ElementsAre(2, 4));
  EXPECT_THAT(Numbers(**rows, 0), ElementsAre(2, 4, 5, 3, 2, 6, 3, 0));
  EXPECT_THAT((*rows)->row_of_text, ElementsAre(0, 1, 0, 0));
  EXPECT_EQ((*rows)->token_count, 15u);
  EXPECT_EQ(model_.metrics.text_tokens, 15u);
  EXPECT_EQ(model_.metrics.repeated_texts, 2u);
}

TEST_F(TextStepTest, TextsThatAllDifferNeedNoPlaces) {
  message_.Strings("text", {"a", "b"});
  const auto rows = Encode();
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_TRUE((*rows)->row_of_text.empty());
  EXPECT_EQ(model_.metrics.repeated_texts, 0u);
}

TEST_F(TextStepTest, PairsAreEqualWhereBothTextsAre) {
  message_.Strings("text", {"a", "a", "a"}).Strings("text_pair", {"b", "c", "b"});
  const auto rows = Encode();
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_THAT((*rows)->row_of_text, ElementsAre(0, 1, 0));
}

TEST_F(TextStepTest, ARefusedTextBehindEqualOnesHasItsPlace) {
  TextWishes wishes;
  wishes.long_input = LongInput::kError;
  message_.Strings("text", {"a", "a", "a b c a b c a b c"}).Texts(wishes);
  EXPECT_EQ(Refusal(), "text 2: it has 11 tokens, but at most 8 are served");
}

TEST_F(TextStepTest, ARefusedTextHasItsPlaceInTheCall) {
  TextWishes wishes;
  wishes.long_input = LongInput::kError;
  wishes.first_place = 30;
  message_.Strings("text", {"a", "a b c a b c a b c"}).Texts(wishes);
  const absl::Status status = Encode().status();
  EXPECT_EQ(status.message(), "text 31: it has 11 tokens, but at most 8 are served");
  EXPECT_TRUE(IsTooLong(status));
}

TEST_F(TextStepTest, AWishedPromptStandsInFrontOfEachText) {
  TakePrompts(R"({"prompts": {"query": "c "}})");
  message_.Strings("text", {"a", "b"}).Texts(Wishing("query"));
  const auto rows = Encode();
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_THAT(Numbers(**rows, 0), ElementsAre(2, 6, 4, 3, 2, 6, 5, 3));
  EXPECT_EQ((*rows)->token_count, 8u);
}

TEST_F(TextStepTest, TheDefaultPromptStandsWhereNoneIsWished) {
  TakePrompts(R"({"prompts": {"query": "c ", "plain": ""}, "default_prompt_name": "query"})");
  message_.Strings("text", {"a"});
  auto rows = Encode();
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_THAT(Numbers(**rows, 0), ElementsAre(2, 6, 4, 3));
  message_.Texts(Wishing("plain"));
  rows = Encode();
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_THAT(Numbers(**rows, 0), ElementsAre(2, 4, 3));
}

TEST_F(TextStepTest, SpacesGoFromTheEndsOfAPromptWithItsText) {
  TakePrompts(R"({"prompts": {"query": " c"}})");
  message_.Strings("text", {"a b "}).Texts(Wishing("query"));
  const auto rows = Encode();
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_THAT(Numbers(**rows, 0), ElementsAre(2, 1, 5, 3)) << "\"ca\" is no word";
}

TEST_F(TextStepTest, APromptCountsForTheLengthOfItsText) {
  TakePrompts(R"({"prompts": {"query": "c c c c c "}})");
  TextWishes wishes = Wishing("query");
  wishes.long_input = LongInput::kError;
  message_.Strings("text", {"a", "a b"}).Texts(wishes);
  EXPECT_EQ(Refusal(), "text 1: it has 9 tokens, but at most 8 are served");
}

TEST_F(TextStepTest, AnUnknownPromptIsRefused) {
  message_.Strings("text", {"a"}).Texts(Wishing("query"));
  EXPECT_EQ(Refusal(), "'prompt_name': the model has no prompts");
  TakePrompts(R"({"prompts": {"document": ""}})");
  EXPECT_EQ(Refusal(), "'prompt_name' must be one of the model's prompts: document");
}

TEST_F(TextStepTest, PairsHaveNoPrompt) {
  TakePrompts(R"({"prompts": {"query": "c "}, "default_prompt_name": "query"})");
  message_.Strings("text", {"a"}).Strings("text_pair", {"b"});
  const auto rows = Encode();
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_THAT(Numbers(**rows, 0), ElementsAre(2, 4, 3, 5, 3));
  message_.Texts(Wishing("query"));
  EXPECT_EQ(Refusal(), "'prompt_name' is there, but pairs of texts have no prompt");
}

TEST_F(TextStepTest, PromptsCountAmongTheBytesOfARequest) {
  message_.Strings("text", {"a", "b"});
  EXPECT_EQ(TextBytes(*message_, model_), 10u);
  TakePrompts(R"({"prompts": {"query": "cc "}, "default_prompt_name": "query"})");
  EXPECT_EQ(TextBytes(*message_, model_), 16u);
  message_->inputs[0].dims = kHugeDims;
  EXPECT_EQ(TextBytes(*message_, model_), 10u + 4 * 3) << "of no more texts than a batch has";
}

TEST_F(TextStepTest, AModelWithAnInputOfThatNameOrWithoutTokenizerHasNoTexts) {
  message_.Strings("text", {"a"});
  model_.spec.inputs.push_back({"text", DataType::kBytes, {1}});
  EXPECT_FALSE(HasTexts(*message_, model_));
  model_.spec.inputs.pop_back();
  model_.texts = absl::UnimplementedError("");
  EXPECT_FALSE(HasTexts(*message_, model_));
  MessageBuilder tokens;
  tokens.Raw("input_ids", "INT64", {1, 1}, 8);
  EXPECT_FALSE(HasTexts(*tokens, model_));
}

TEST_F(TextStepTest, ATokenizerThatCannotBeUsedIsToldWithoutItsPath) {
  message_.Strings("text", {"a"});
  model_.texts = absl::NotFoundError("cannot open /srv/secret/tokenizer.json");
  ASSERT_TRUE(HasTexts(*message_, model_));
  EXPECT_EQ(Encode().status(),
            absl::UnavailableError("model 'm' takes no texts: its tokenizer cannot be used; the "
                                   "server's log says why"));
}

TEST_F(TextStepTest, RefusesTensorsBesideTexts) {
  message_.Strings("text", {"a"}).Raw("input_ids", "INT64", {1, 1}, 8);
  EXPECT_EQ(Refusal(), "unexpected inference input 'input_ids' beside 'text' for model 'm'");
}

TEST_F(TextStepTest, RefusesTheSameInputTwice) {
  message_.Strings("text", {"a"}).Strings("text", {"a"});
  EXPECT_EQ(Refusal(), "input 'text' already exists in request");
}

TEST_F(TextStepTest, RefusesOtherDatatypesAndShapes) {
  message_.Raw("text", "INT64", {1, 1}, 8);
  EXPECT_EQ(Refusal(),
            "inference input 'text' data-type is 'INT64', but model 'm' expects 'BYTES'");
  MessageBuilder wide;
  wide.Raw("text", "BYTES", {1, 2}, 8);
  EXPECT_EQ(EncodeTexts(*wide, model_, &clock_, [] { return absl::OkStatus(); }).status(),
            absl::InvalidArgumentError(
                "unexpected shape for input 'text' for model 'm'. Expected [-1,1], got [1,2]."));
}

TEST_F(TextStepTest, RefusesMoreTextsThanABatchHas) {
  message_.Strings("text", {"a", "a", "a", "a", "a"});
  EXPECT_EQ(Refusal(), "inference request batch-size must be <= 4 for 'm'");
}

TEST_F(TextStepTest, RefusesPairsOfAnotherCount) {
  message_.Strings("text", {"a", "a"}).Strings("text_pair", {"a"});
  EXPECT_EQ(Refusal(), "input 'text_pair' batch size does not match other inputs for 'm'");
}

TEST_F(TextStepTest, RefusesBytesThatAreNoElements) {
  message_.Raw("text", "BYTES", {1, 1}, 3);
  EXPECT_EQ(Refusal(),
            "incomplete string length indicator for inference input 'text' for model 'm', "
            "expecting 4 bytes but only 3 bytes available");
}

TEST_F(TextStepTest, NamesTheTextThatIsTooLong) {
  TextPolicy policy;
  policy.long_input = LongInput::kError;
  model_.texts = std::make_shared<const TextEncoder>(
      *text::Tokenizer::FromVocabulary("[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n", true), policy);
  message_.Strings("text", {"a", "a a a a a a a"});
  EXPECT_EQ(Refusal(), "text 1: it has 9 tokens, but at most 8 are served");
}

TEST_F(TextStepTest, RefusesShortTextsBesideALongOneThatWouldTakeTooMuchMemory) {
  model_.spec.max_batch_size = 1024;
  model_.spec.pad = {{"input_ids", 0, {65536}, 0, {}}};
  std::vector<std::string> texts;
  for (int i = 0; i < 1024; ++i) texts.push_back(absl::StrCat("a", i));
  for (int i = 0; i < 5000; ++i) texts[7] += " a";
  message_.Strings("text", texts);
  EXPECT_EQ(Refusal(), "the texts become 81969152 bytes of tokens; at most 67108864 are served");
}

TEST_F(TextStepTest, EndsWhenNobodyAwaitsTheRequest) {
  message_.Strings("text", {"a"});
  awaited_ = absl::CancelledError("gone");
  EXPECT_EQ(Encode().status(), awaited_);
}

}  // namespace
}  // namespace mpsd
