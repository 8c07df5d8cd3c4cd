#include "worker/tools/bert_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace mpsd {
namespace {

using testing::HasSubstr;

constexpr char kConfig[] =
    R"({"model_type": "bert", "hidden_act": "gelu", "hidden_size": 4, "num_hidden_layers": 1,
        "num_attention_heads": 2, "intermediate_size": 8, "vocab_size": 10,
        "max_position_embeddings": 40, "type_vocab_size": 2, "layer_norm_eps": 1e-12,
        "architectures": ["BertModel"]})";

std::string ConfigError(const std::string& from, const std::string& to) {
  std::string text = kConfig;
  text.replace(text.find(from), from.size(), to);
  const absl::StatusOr<BertConfig> config = ParseBertConfig(text);
  return config.ok() ? "it parsed" : std::string(config.status().message());
}

TEST(BertConfig, ReadsTheNumbers) {
  const absl::StatusOr<BertConfig> config = ParseBertConfig(kConfig);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->hidden_size, 4);
  EXPECT_EQ(config->position_count, 40);
  EXPECT_EQ(config->layer_norm_epsilon, 1e-12);
}

TEST(BertConfig, RefusesWhatItDoesNotKnow) {
  EXPECT_THAT(ConfigError("\"bert\"", "\"roberta\""), HasSubstr("'model_type' must be \"bert\""));
  EXPECT_THAT(ConfigError("\"gelu\"", "\"relu\""), HasSubstr("'hidden_act' must be \"gelu\""));
  EXPECT_THAT(ConfigError("\"vocab_size\": 10", "\"vocab_size\": -1"), HasSubstr("'vocab_size'"));
  EXPECT_THAT(ConfigError("\"num_attention_heads\": 2", "\"num_attention_heads\": 3"),
              HasSubstr("multiple of 'num_attention_heads'"));
  EXPECT_THAT(ConfigError("BertModel", "BertForSequenceClassification"),
              HasSubstr("not [\"BertForSequenceClassification\"]"));
  EXPECT_THAT(ConfigError("BertModel", "BertForTokenClassification"),
              HasSubstr("'architectures' must be [\"BertModel\"]"));
  EXPECT_THAT(std::string(ParseBertConfig("{").status().message()), HasSubstr("no JSON object"));
}

}  // namespace
}  // namespace mpsd
