#include "worker/tools/sentence_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace mpsd {
namespace {

using testing::HasSubstr;

TEST(SentenceConfig, TakesTheMeanAndTheFirstToken) {
  EXPECT_EQ(ParsePooling(R"({"pooling_mode_mean_tokens": true, "pooling_mode_cls_token": false})")
                .value(),
            BertPooling::kMean);
  EXPECT_EQ(ParsePooling(R"({"pooling_mode_mean_tokens": false, "pooling_mode_cls_token": true})")
                .value(),
            BertPooling::kCls);
}

TEST(SentenceConfig, NamesAPoolingThatItDoesNotKnow) {
  EXPECT_THAT(std::string(ParsePooling(R"({"pooling_mode_max_tokens": true})").status().message()),
              HasSubstr("the model pools by max_tokens"));
  EXPECT_THAT(std::string(ParsePooling(R"({"pooling_mode_cls_token": true,
                                           "pooling_mode_mean_tokens": true})")
                              .status()
                              .message()),
              HasSubstr("the model pools by cls_token and mean_tokens"));
  EXPECT_THAT(std::string(ParsePooling("{}").status().message()), HasSubstr("pools by no mode"));
}

TEST(SentenceConfig, NamesAStepThatWouldBeLost) {
  EXPECT_TRUE(CheckModules(R"([{"type": "sentence_transformers.models.Transformer"},
                               {"type": "sentence_transformers.models.Pooling"},
                               {"type": "sentence_transformers.models.Normalize"}])")
                  .ok());
  EXPECT_THAT(
      std::string(CheckModules(R"([{"type": "sentence_transformers.models.Dense"}])").message()),
      HasSubstr("the step Dense would be lost"));
}

}  // namespace
}  // namespace mpsd
