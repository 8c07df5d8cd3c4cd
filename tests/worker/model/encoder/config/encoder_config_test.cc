#include "worker/model/encoder/config/encoder_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "nlohmann/json.hpp"

namespace mpsd {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

const json kBert = json::parse(
    R"({"model_type": "bert", "hidden_act": "gelu", "hidden_size": 4, "num_hidden_layers": 1,
        "num_attention_heads": 2, "intermediate_size": 8, "vocab_size": 10,
        "max_position_embeddings": 40, "type_vocab_size": 2, "layer_norm_eps": 1e-5,
        "architectures": ["BertModel"]})");

// The config with other values; null takes a key away, and {} changes nothing.
absl::StatusOr<EncoderConfig> With(const json& changes, json config = kBert) {
  if (!changes.is_null()) config.merge_patch(changes);
  return ParseEncoderConfig(config.dump());
}

std::string ErrorWith(const json& changes) {
  const absl::StatusOr<EncoderConfig> config = With(changes);
  return config.ok() ? "it parsed" : std::string(config.status().message());
}

TEST(EncoderConfig, ReadsTheNumbers) {
  const absl::StatusOr<EncoderConfig> config = With({});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->family, EncoderFamily::kBert);
  EXPECT_EQ(config->head, HeadKind::kNone);
  EXPECT_EQ(config->hidden_size, 4);
  EXPECT_EQ(config->max_tokens(), 40);
  EXPECT_EQ(config->layer_norm_epsilon, 1e-5);
  EXPECT_EQ(config->activation, Activation::kGelu);
  EXPECT_THAT(config->labels, ElementsAre());
}

TEST(EncoderConfig, PositionsOfRobertasKinStartBehindThePad) {
  for (const char* family : {"roberta", "xlm-roberta", "camembert", "mpnet"}) {
    const auto config = With({{"model_type", family}, {"architectures", nullptr}});
    ASSERT_TRUE(config.ok()) << config.status();
    EXPECT_EQ(config->first_position, 2) << family;
    EXPECT_EQ(config->max_tokens(), 38) << family;
    EXPECT_EQ(NameOf(config->family), family);
  }
}

TEST(EncoderConfig, DistilBertHasKeysOfItsOwn) {
  const json distil = {{"model_type", "distilbert"},
                       {"dim", 4},
                       {"n_layers", 3},
                       {"n_heads", 1},
                       {"hidden_dim", 8},
                       {"vocab_size", 10},
                       {"max_position_embeddings", 12},
                       {"activation", "relu"}};
  const auto config = With({}, distil);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->layer_count, 3);
  EXPECT_EQ(config->token_type_count, 0);
  EXPECT_EQ(config->activation, Activation::kRelu);
}

TEST(EncoderConfig, ModernBertHasRotationsAndLocalLayers) {
  json modern = {{"model_type", "modernbert"},
                 {"hidden_size", 8},
                 {"num_hidden_layers", 4},
                 {"num_attention_heads", 2},
                 {"intermediate_size", 8},
                 {"vocab_size", 10},
                 {"max_position_embeddings", 9},
                 {"global_attn_every_n_layers", 2},
                 {"local_attention", 6},
                 {"global_rope_theta", 5000.0},
                 {"norm_eps", 1e-6}};
  auto config = With({}, modern);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_THAT(config->rotary.is_local, ElementsAre(false, true, false, true));
  EXPECT_EQ(config->rotary.reach, 3);
  EXPECT_EQ(config->rotary.theta, 5000);
  EXPECT_EQ(config->rotary.local_theta, 10'000);
  EXPECT_EQ(config->layer_norm_epsilon, 1e-6);
  modern["layer_types"] = {"sliding_attention", "full_attention", "full_attention",
                           "full_attention"};
  modern["rope_parameters"] = {{"full_attention", {{"rope_type", "default"}, {"rope_theta", 7.0}}}};
  config = With({}, modern);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_THAT(config->rotary.is_local, ElementsAre(true, false, false, false));
  EXPECT_EQ(config->rotary.theta, 7);
}

TEST(EncoderConfig, LocalRotationsWithoutABaseOfTheirOwnHaveTheGlobalOne) {
  json modern = kBert;
  modern.merge_patch({{"model_type", "modernbert"}, {"architectures", nullptr}});
  modern["global_rope_theta"] = 5000;
  EXPECT_EQ(With({}, modern)->rotary.local_theta, 10'000);
  modern["local_rope_theta"] = nullptr;
  EXPECT_EQ(With({}, modern)->rotary.local_theta, 5000);
}

TEST(EncoderConfig, RotationsHaveNoKindOfPositions) {
  const auto config = With({{"model_type", "modernbert"},
                            {"architectures", nullptr},
                            {"position_embedding_type", "sans_pos"}});
  EXPECT_TRUE(config.ok()) << config.status();
}

TEST(EncoderConfig, PositionsOfMpnetCountFromOne) {
  const json mpnet = {{"model_type", "mpnet"}, {"architectures", nullptr}, {"pad_token_id", 1}};
  EXPECT_EQ(With(mpnet)->first_position, 2);
  EXPECT_THAT(ErrorWith({{"model_type", "mpnet"}, {"architectures", nullptr}, {"pad_token_id", 0}}),
              HasSubstr("'pad_token_id' must be 1"));
  const json roberta = {{"model_type", "roberta"}, {"architectures", nullptr}, {"pad_token_id", 0}};
  EXPECT_EQ(With(roberta)->first_position, 1);
}

TEST(EncoderConfig, RefusesRotationsThatItDoesNotKnow) {
  const json modern = {{"model_type", "modernbert"}, {"architectures", nullptr}};
  const auto error = [&](const json& more) {
    json changes = modern;
    changes.merge_patch(more);
    return ErrorWith(changes);
  };
  EXPECT_EQ(error({{"vocab_size", 10}, {"num_attention_heads", 2}}), "it parsed");
  EXPECT_THAT(error({{"num_attention_heads", 4}}), HasSubstr("must be even"));
  EXPECT_THAT(error({{"rope_scaling", {{"type", "yarn"}}}}), HasSubstr("'rope_scaling'"));
  EXPECT_THAT(error({{"rope_parameters", {{"full_attention", {{"rope_type", "yarn"}}}}}}),
              HasSubstr("'rope_type' must be \"default\", not \"yarn\""));
  EXPECT_THAT(error({{"layer_types", {"chunked_attention"}}}),
              HasSubstr("'layer_types' has \"chunked_attention\""));
  EXPECT_THAT(error({{"layer_types", json::array()}}), HasSubstr("a text for each layer"));
  EXPECT_THAT(error({{"local_attention", 1}}), HasSubstr("'local_attention'"));
  EXPECT_THAT(error({{"norm_bias", 1}}), HasSubstr("'norm_bias' must be true or false"));
  EXPECT_THAT(error({{"classifier_pooling", "max"}}), HasSubstr("'classifier_pooling'"));
}

TEST(EncoderConfig, RefusesByNameWhatItDoesNotKnow) {
  EXPECT_THAT(ErrorWith({{"model_type", "t5"}}),
              HasSubstr("'model_type' is \"t5\"; mpsd knows bert"));
  EXPECT_THAT(ErrorWith({{"model_type", nullptr}}), HasSubstr("'model_type' is missing"));
  EXPECT_THAT(ErrorWith({{"architectures", {"BertForTokenClassification"}}}),
              HasSubstr("'architectures' is [\"BertForTokenClassification\"]"));
  EXPECT_THAT(ErrorWith({{"architectures", {"Model"}}}), HasSubstr("'architectures' is "));
  EXPECT_THAT(ErrorWith({{"architectures", {"BertModel", "BertForMaskedLM"}}}),
              HasSubstr("'architectures' is "));
  EXPECT_THAT(ErrorWith({{"auto_map", {{"AutoModel", "x.Y"}}}}), HasSubstr("'auto_map'"));
  EXPECT_THAT(ErrorWith({{"quantization_config", {{"bits", 4}}}}),
              HasSubstr("'quantization_config'"));
  EXPECT_THAT(ErrorWith({{"is_decoder", true}}), HasSubstr("'is_decoder'"));
  EXPECT_THAT(ErrorWith({{"hidden_act", "swiglu"}}), HasSubstr("'hidden_act' is \"swiglu\""));
  EXPECT_THAT(ErrorWith({{"position_embedding_type", "relative_key"}}),
              HasSubstr("'position_embedding_type' must be \"absolute\""));
  EXPECT_THAT(ErrorWith({{"pruned_heads", {{"0", {1}}}}}), HasSubstr("'pruned_heads'"));
}

TEST(EncoderConfig, RefusesNumbersThatAreNone) {
  for (const json& number : {json(0), json(-1), json(1.5), json("4"), json(1ULL << 40), json()}) {
    EXPECT_THAT(ErrorWith({{"hidden_size", number}}),
                HasSubstr("'hidden_size' must be a whole number from 1 to 16777216"));
  }
  EXPECT_THAT(ErrorWith({{"num_attention_heads", 3}}), HasSubstr("must be a multiple of"));
  EXPECT_THAT(ErrorWith({{"num_hidden_layers", 257}}), HasSubstr("'num_hidden_layers'"));
  EXPECT_THAT(ErrorWith({{"layer_norm_eps", "x"}}), HasSubstr("'layer_norm_eps'"));
  EXPECT_THAT(
      ErrorWith(
          {{"model_type", "roberta"}, {"architectures", nullptr}, {"max_position_embeddings", 2}}),
      HasSubstr("leaves no position"));
  EXPECT_THAT(std::string(ParseEncoderConfig("{").status().message()), HasSubstr("no JSON"));
}

TEST(EncoderConfig, ReadsAClassifiersLabelsByNumber) {
  const json head = {{"architectures", {"BertForSequenceClassification"}},
                     {"id2label", {{"1", "b"}, {"0", "a"}, {"2", "c"}}}};
  const auto config = With(head);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->head, HeadKind::kClassifier);
  EXPECT_THAT(config->labels, ElementsAre("a", "b", "c"));
  EXPECT_EQ(config->score, Activation::kSoftmax);
  json gap = head;
  gap["id2label"].erase("1");
  EXPECT_THAT(ErrorWith(gap), HasSubstr("'id2label' has no text for '1'"));
  json long_one = head;
  long_one["id2label"]["0"] = std::string(256 << 10, 'a');
  EXPECT_THAT(ErrorWith(long_one), HasSubstr("'id2label' has more than 262144 bytes of labels"));
  long_one["id2label"]["0"] = std::string((256 << 10) - 2, 'a');
  EXPECT_EQ(ErrorWith(long_one), "it parsed");
}

TEST(EncoderConfig, NumbersTheLabelsThatHaveNoNames) {
  json head = {{"architectures", {"BertForSequenceClassification"}}};
  EXPECT_THAT(With(head)->labels, ElementsAre("LABEL_0", "LABEL_1"));
  EXPECT_FALSE(With(head)->labels_are_told);
  head["num_labels"] = 1;
  EXPECT_THAT(With(head)->labels, ElementsAre("LABEL_0"));
  EXPECT_TRUE(With(head)->labels_are_told);
  EXPECT_EQ(With(head)->score, Activation::kSigmoid);
  for (const json& wrong : {json(0), json(10'001), json("1")}) {
    head["num_labels"] = wrong;
    EXPECT_THAT(ErrorWith(head), HasSubstr("'num_labels'")) << wrong;
  }
  head["id2label"] = {{"0", "a"}};
  EXPECT_THAT(With(head)->labels, ElementsAre("a"));
  EXPECT_TRUE(With(head)->labels_are_told);
}

TEST(EncoderConfig, ScoresAsTheConfigSays) {
  const json head = {{"architectures", {"BertForSequenceClassification"}},
                     {"id2label", {{"0", "LABEL_0"}}}};
  const auto score = [&](const json& more) {
    json changes = head;
    if (!more.is_null()) changes.merge_patch(more);
    const auto config = With(changes);
    EXPECT_TRUE(config.ok()) << config.status();
    return config->score;
  };
  EXPECT_EQ(score({}), Activation::kSigmoid);
  EXPECT_EQ(score({{"problem_type", "regression"}}), Activation::kIdentity);
  EXPECT_EQ(score({{"sbert_ce_default_activation_function", "torch.nn.modules.linear.Identity"}}),
            Activation::kIdentity);
  EXPECT_EQ(
      score({{"sentence_transformers", {{"activation_fn", "torch.nn.modules.activation.Tanh"}}}}),
      Activation::kTanh);
  json unknown = head;
  unknown["sbert_ce_default_activation_function"] = "my.Own";
  EXPECT_THAT(ErrorWith(unknown), HasSubstr("the activation 'my.Own' is not known"));
  unknown["sbert_ce_default_activation_function"] = 3;
  EXPECT_THAT(ErrorWith(unknown), HasSubstr("the activation '3' is not known"));
}

}  // namespace
}  // namespace mpsd
