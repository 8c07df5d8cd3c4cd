#include "client/cli/tokenizer_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_cat.h"

namespace mpsd::cli {
namespace {

using nlohmann::ordered_json;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

// A description whose tokenizer has these members in place of the usual ones.
ordered_json With(const ordered_json& members) {
  ordered_json tokenizer = ordered_json::parse(
      R"({"file": "/m/tokenizer.json", "kind": "WordPiece", "pieces": 5, "id_bound": 6,
          "special_tokens": [{"token": "[CLS]", "id": 2}, {"token": "[SEP]", "id": 3}],
          "text_row": "[CLS] A [SEP]", "pair_row": "[CLS] A [SEP] B [SEP]",
          "long_input": "truncate", "cut_side": "right", "unheeded_length": null,
          "prompts": {}, "default_prompt": null, "ids_beyond_model": 0})");
  tokenizer.update(members);
  return {{"tokenizer", tokenizer}};
}

TEST(TokenizerReport, HasALineForEachFact) {
  EXPECT_EQ(TokenizerText(With(ordered_json::object())),
            "tokenizer: WordPiece, 5 pieces, of tokenizer.json\n"
            "special tokens: [CLS] 2, [SEP] 3; a text becomes [CLS] A [SEP], a pair "
            "[CLS] A [SEP] B [SEP]\n"
            "truncation: on: a longer row is cut on the right\n"
            "prompts: none\n");
}

TEST(TokenizerReport, SaysWhichIdsTheModelDoesNotKnow) {
  EXPECT_THAT(TokenizerText(With({{"ids_beyond_model", 2}})),
              HasSubstr("warning: its ids go up to 5, but the model has 4 words: a text with a "
                        "token beyond them fails\n"));
}

TEST(TokenizerReport, SaysThatALengthIsNotHeeded) {
  EXPECT_THAT(TokenizerText(With({{"unheeded_length", 128}})),
              HasSubstr("cut on the right; the 128 tokens in tokenizer.json are not heeded\n"));
}

TEST(TokenizerReport, TruncationMayBeOff) {
  EXPECT_THAT(TokenizerText(With({{"long_input", "error"}})),
              HasSubstr("truncation: off: a longer row is refused\n"));
}

TEST(TokenizerReport, SpecialTokensMayBeNone) {
  EXPECT_THAT(TokenizerText(With({{"special_tokens", ordered_json::array()}})),
              HasSubstr("special tokens: none are added\n"));
}

TEST(TokenizerReport, SaysWhyATokenizerIsRefusedOrNone) {
  EXPECT_EQ(TokenizerText({{"tokenizer", {{"file", "/m/t"}, {"refused", "/m/t: no\x1b JSON"}}}}),
            "tokenizer: refused, so the model is not served: /m/t: no  JSON\n");
  EXPECT_THAT(TokenizerText({{"tokenizer", nullptr}}), HasSubstr("tokenizer: none, since there"));
  EXPECT_EQ(TokenizerText({{"file", "/m.pt"}}), "");
}

TEST(TokenizerReport, ListsPromptsOnALineEach) {
  const ordered_json json =
      With({{"prompts", {{"document", ""}, {"query", "find\nit: "}}}, {"default_prompt", "query"}});
  EXPECT_THAT(TokenizerText(json),
              EndsWith("prompts: 2; a request that names none gets 'query'\n"));
  EXPECT_EQ(PromptsText(json),
            "\nPROMPT    TEXT\n"
            "document  ''\n"
            "query     'find it: '\n");
}

TEST(TokenizerReport, WithoutADefaultARequestGetsNoPrompt) {
  const ordered_json prompts = {{"query", "find: "}};
  EXPECT_THAT(TokenizerText(With({{"prompts", prompts}})),
              EndsWith("prompts: 1; a request that names none gets none\n"));
  EXPECT_THAT(TokenizerText(With({{"prompts", prompts}, {"default_prompt", ""}})),
              EndsWith("gets ''\n"));
}

TEST(TokenizerReport, LongPromptsAndLongListsAreCut) {
  ordered_json prompts = {{"p00", std::string(73, 'a')}};
  for (int i = 10; i < 26; ++i) prompts[absl::StrCat("p", i)] = absl::StrCat("text ", i);
  const std::string text = PromptsText(With({{"prompts", prompts}}));
  EXPECT_THAT(text, HasSubstr(absl::StrCat("'", std::string(72, 'a'), "…'\n")));
  EXPECT_THAT(text, EndsWith("'text 24'\n…       1 more; --json has all\n"));
  EXPECT_THAT(text, Not(HasSubstr("text 25")));
}

TEST(TokenizerReport, WithoutPromptsThereIsNoTable) {
  EXPECT_EQ(PromptsText(With(ordered_json::object())), "");
  EXPECT_EQ(PromptsText({{"tokenizer", {{"refused", "why"}}}}), "");
  EXPECT_EQ(PromptsText({{"tokenizer", nullptr}}), "");
  EXPECT_EQ(PromptsText({{"file", "/m.pt"}}), "");
}

}  // namespace
}  // namespace mpsd::cli
