// The keys of families whose positions are rotations, beyond ModernBERT's.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "nlohmann/json.hpp"
#include "worker/model/encoder/config/encoder_config.h"

namespace mpsd {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

json Sizes(const char* model_type) {
  return {{"model_type", model_type},        {"hidden_size", 16},      {"num_hidden_layers", 3},
          {"num_attention_heads", 4},        {"intermediate_size", 8}, {"vocab_size", 10},
          {"max_position_embeddings", 4096}, {"type_vocab_size", 2}};
}

json FirstNomic() {
  return {{"model_type", "nomic_bert"},
          {"n_embd", 16},
          {"n_layer", 2},
          {"n_head", 2},
          {"n_inner", 24},
          {"n_positions", 8192},
          {"vocab_size", 10},
          {"type_vocab_size", 2},
          {"activation_function", "swiglu"},
          {"layer_norm_epsilon", 1e-6},
          {"rotary_emb_base", 500},
          {"rotary_emb_fraction", 1.0},
          {"qkv_proj_bias", false},
          {"mlp_fc1_bias", false}};
}

json FirstGte() {
  json config = Sizes("new");
  config["rope_theta"] = 20'000;
  return config;
}

json Qwen3() {
  json config = Sizes("qwen3");
  config.merge_patch({{"head_dim", 6}, {"num_key_value_heads", 2}});
  return config;
}

json Gemma3() {
  json config = Sizes("gemma3_text");
  config.merge_patch({{"head_dim", 6},
                      {"num_key_value_heads", 1},
                      {"query_pre_attn_scalar", 9},
                      {"sliding_window", 512},
                      {"sliding_window_pattern", 3},
                      {"use_bidirectional_attention", true},
                      {"rope_theta", 5000.0},
                      {"rope_local_base_freq", 50.0}});
  return config;
}

// The config with other values; null takes a key away, and {} changes nothing.
absl::StatusOr<EncoderConfig> Changed(json config, const json& changes) {
  if (!changes.is_null()) config.merge_patch(changes);
  return ParseEncoderConfig(config.dump());
}

std::string RefusalOf(const json& config, const json& changes) {
  const absl::StatusOr<EncoderConfig> parsed = Changed(config, changes);
  return parsed.ok() ? "it parsed" : std::string(parsed.status().message());
}

TEST(RotaryFamilies, NomicBertIsReadByItsOwnKeys) {
  const auto config = Changed(Sizes("nomic_bert"), {{"rope_parameters", {{"rope_theta", 77.0}}}});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->family, EncoderFamily::kNomicBert);
  EXPECT_EQ(config->activation, Activation::kSilu);
  EXPECT_EQ(config->token_type_count, 2);
  EXPECT_EQ(config->rotary.theta, 77);
  EXPECT_FALSE(config->rotary.has_attention_bias);
  EXPECT_EQ(Changed(Sizes("nomic_bert"), {})->rotary.theta, 1000);
  EXPECT_THAT(RefusalOf(Sizes("nomic_bert"), {{"head_dim", 8}}), HasSubstr("'head_dim' is 8"));
}

TEST(RotaryFamilies, NomicBertIsReadByThoseOfItsFirstPublication) {
  const auto config = Changed(FirstNomic(), {});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->hidden_size, 16);
  EXPECT_EQ(config->layer_count, 2);
  EXPECT_EQ(config->intermediate_size, 24);
  EXPECT_EQ(config->max_tokens(), 8192);
  EXPECT_EQ(config->layer_norm_epsilon, 1e-6);
  EXPECT_EQ(config->rotary.theta, 500);
  EXPECT_FALSE(config->rotary.has_attention_bias);
  EXPECT_FALSE(config->rotary.has_up_bias);
  EXPECT_TRUE(config->rotary.has_down_bias);
  EXPECT_EQ(Changed(FirstNomic(), {{"activation_function", "geglu"}})->activation,
            Activation::kGelu);
}

TEST(RotaryFamilies, NomicBertsFirstKeysWithoutACommonDefaultMustBeThere) {
  for (const char* key : {"layer_norm_epsilon", "rotary_emb_base", "rotary_emb_fraction"}) {
    EXPECT_EQ(RefusalOf(FirstNomic(), {{key, nullptr}}), "'" + std::string(key) + "' is missing");
  }
}

TEST(RotaryFamilies, NomicBertHasNoRowsWhoseRotationsTheirBatchWouldChange) {
  EXPECT_EQ(Changed(FirstNomic(), {{"rotary_scaling_factor", 2}})->max_tokens(), 2048);
  const json told = {{"rotary_scaling_factor", 2}, {"max_trained_positions", 512}};
  EXPECT_EQ(Changed(FirstNomic(), told)->max_tokens(), 512);
}

TEST(RotaryFamilies, NomicBertOfAnotherKindIsRefusedByItsKey) {
  for (const json& other :
       {json{{"prenorm", true}}, json{{"parallel_block", true}}, json{{"use_rms_norm", true}},
        json{{"causal", true}}, json{{"rotary_emb_interleaved", true}},
        json{{"rotary_emb_fraction", 0}}, json{{"rotary_emb_scale_base", 512}},
        json{{"scale_attn_weights", false}}, json{{"moe_every_n_layers", 2}}}) {
    const std::string key = other.begin().key();
    EXPECT_THAT(RefusalOf(FirstNomic(), other), HasSubstr("'" + key + "' is "));
  }
  EXPECT_THAT(RefusalOf(FirstNomic(), {{"activation_function", "gelu"}}),
              HasSubstr("'activation_function'"));
  EXPECT_THAT(RefusalOf(FirstNomic(), {{"n_head", 16}}), HasSubstr("must be even"));
}

TEST(RotaryFamilies, CodeOfTheFamilyIsNotNeededAndOtherCodeRefused) {
  const auto with_code = [](const json& config, const char* key, const char* name) {
    return RefusalOf(config, {{"auto_map", {{key, name}}}});
  };
  EXPECT_EQ(with_code(FirstNomic(), "AutoModel", "nomic-ai/x--modeling_x.NomicBertModel"),
            "it parsed");
  EXPECT_EQ(with_code(FirstGte(), "AutoConfig", "Alibaba-NLP/new-impl--configuration.NewConfig"),
            "it parsed");
  EXPECT_THAT(with_code(FirstNomic(), "AutoModel", "modeling_x.MyOwnModel"),
              HasSubstr("'auto_map'"));
  EXPECT_THAT(with_code(FirstNomic(), "AutoTokenizer", "x.NomicBertTokenizer"),
              HasSubstr("'auto_map'"));
  EXPECT_THAT(with_code(Qwen3(), "AutoModel", "x.Qwen3Model"), HasSubstr("'auto_map'"));
  EXPECT_THAT(RefusalOf(FirstNomic(), {{"auto_map", "x.NomicBertModel"}}), HasSubstr("'auto_map'"));
  EXPECT_THAT(RefusalOf(FirstNomic(), {{"auto_map", {{"AutoModel", 3}}}}), HasSubstr("'auto_map'"));
}

TEST(RotaryFamilies, GteStretchesItsRotations) {
  auto config = Changed(Sizes("gte"), {});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->rotary.theta, 160'000);
  EXPECT_EQ(config->rotary.stretch, 1);
  EXPECT_TRUE(config->rotary.has_attention_bias);
  EXPECT_FALSE(config->rotary.has_up_bias);
  EXPECT_TRUE(config->rotary.has_down_bias);
  config = Changed(FirstGte(), {{"rope_scaling", {{"type", "ntk"}, {"factor", 8.0}}}});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->rotary.theta, 160'000);
  EXPECT_EQ(config->rotary.stretch, std::pow(8, 0.5));
  const json linear = {{"rope_parameters", {{"rope_type", "linear"}, {"factor", 2.0}}}};
  EXPECT_EQ(Changed(Sizes("gte"), linear)->rotary.stretch, 2);
}

TEST(RotaryFamilies, GteByItsFirstNameMustTellItsBase) {
  EXPECT_EQ(Changed(FirstGte(), {})->rotary.theta, 20'000);
  EXPECT_EQ(RefusalOf(Sizes("new"), {}), "'rope_theta' is missing");
  const json scaling = {{"rope_scaling", {{"type", "ntk"}, {"factor", 8.0}}}};
  EXPECT_EQ(RefusalOf(Sizes("new"), scaling), "'rope_theta' is missing");
  const json newer = {{"rope_parameters", {{"rope_theta", 5000.0}, {"rope_type", "default"}}}};
  EXPECT_EQ(Changed(Sizes("new"), newer)->rotary.theta, 5000);
}

TEST(RotaryFamilies, GteMayNameAHeadForTokensBesideTheModel) {
  const json both = {{"architectures", {"NewModel", "NewForTokenClassification"}}};
  EXPECT_EQ(Changed(FirstGte(), both)->head, HeadKind::kTraining);
  EXPECT_THAT(RefusalOf(Sizes("gte"), both), HasSubstr("'architectures'"));
}

TEST(RotaryFamilies, GteOfAnotherKindIsRefusedByItsKey) {
  EXPECT_THAT(RefusalOf(FirstGte(), {{"position_embedding_type", "absolute"}}),
              HasSubstr("'position_embedding_type' is \"absolute\"; mpsd knows \"rope\" alone"));
  EXPECT_THAT(RefusalOf(FirstGte(), {{"layer_norm_type", "rms_norm"}}),
              HasSubstr("'layer_norm_type'"));
  EXPECT_THAT(RefusalOf(FirstGte(), {{"logn_attention_scale", true}}),
              HasSubstr("'logn_attention_scale'"));
}

TEST(RotaryFamilies, RotationsThatGrowWithTheRowAreRefused) {
  const auto scaled = [](const json& scaling) {
    return RefusalOf(Sizes("gte"), {{"rope_scaling", scaling}});
  };
  EXPECT_EQ(scaled({{"rope_type", "dynamic"}, {"factor", 2.0}}), "it parsed");  // beyond its rows
  EXPECT_THAT(scaled({{"rope_type", "dynamic"}, {"original_max_position_embeddings", 512}}),
              HasSubstr("'rope_type' is \"dynamic\""));
  EXPECT_THAT(scaled({{"rope_type", "yarn"}}), HasSubstr("'rope_type' is \"yarn\""));
  EXPECT_THAT(scaled({{"type", "linear"}}), HasSubstr("'factor'"));
  EXPECT_THAT(scaled({{"type", "linear"}, {"factor", 0.5}}), HasSubstr("'factor'"));
  EXPECT_THAT(scaled({{"type", "ntk"}, {"factor", 8}, {"mixed_b", 1}}), HasSubstr("'mixed_b'"));
  EXPECT_THAT(scaled("ntk"), HasSubstr("'rope_scaling'"));
  EXPECT_THAT(RefusalOf(Sizes("gte"), {{"partial_rotary_factor", 0.5}}),
              HasSubstr("'partial_rotary_factor'"));
}

TEST(RotaryFamilies, Qwen3IsCausalAndSharesKeys) {
  const auto config =
      Changed(Qwen3(), {{"architectures", {"Qwen3ForCausalLM"}}, {"rope_theta", 1e6}});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->head, HeadKind::kTraining);
  EXPECT_TRUE(config->decoder.is_causal);
  EXPECT_EQ(config->decoder.head_size, 6);
  EXPECT_EQ(config->decoder.key_value_head_count, 2);
  EXPECT_DOUBLE_EQ(config->decoder.score_scale, 1 / std::sqrt(6.0));
  EXPECT_EQ(config->rotary.theta, 1e6);
  EXPECT_EQ(config->layer_norm_epsilon, 1e-6);
  EXPECT_EQ(config->token_type_count, 0);
  EXPECT_THAT(config->rotary.is_local, ElementsAre(false, false, false));
}

TEST(RotaryFamilies, Qwen3OfAnotherKindIsRefusedByItsKey) {
  EXPECT_THAT(RefusalOf(Qwen3(), {{"use_sliding_window", true}}),
              HasSubstr("'use_sliding_window'"));
  EXPECT_THAT(RefusalOf(Qwen3(), {{"num_key_value_heads", 3}}), HasSubstr("'num_key_value_heads'"));
  EXPECT_THAT(RefusalOf(Qwen3(), {{"num_key_value_heads", 5}}), HasSubstr("'num_key_value_heads'"));
  EXPECT_THAT(RefusalOf(Qwen3(), {{"head_dim", nullptr}}), HasSubstr("'head_dim'"));
  EXPECT_THAT(RefusalOf(Qwen3(), {{"head_dim", 5}}), HasSubstr("must be even"));
  EXPECT_THAT(RefusalOf(Qwen3(), {{"architectures", {"Qwen3ForSequenceClassification"}}}),
              HasSubstr("mpsd knows Qwen3Model and, below modules.json, Qwen3ForCausalLM"));
}

TEST(RotaryFamilies, Gemma3SeesBothSidesAndInMostLayersHalfItsWindow) {
  auto config = Changed(Gemma3(), {});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_FALSE(config->decoder.is_causal);
  EXPECT_THAT(config->rotary.is_local, ElementsAre(true, true, false));
  EXPECT_EQ(config->rotary.reach, 256);
  EXPECT_EQ(config->rotary.theta, 5000);
  EXPECT_EQ(config->rotary.local_theta, 50);
  EXPECT_DOUBLE_EQ(config->decoder.score_scale, 1 / 3.0);
  EXPECT_EQ(config->activation, Activation::kGeluTanh);
  config = Changed(Gemma3(),
                   {{"layer_types", {"full_attention", "sliding_attention", "full_attention"}}});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_THAT(config->rotary.is_local, ElementsAre(false, true, false));
}

TEST(RotaryFamilies, Gemma3OfAnotherKindIsRefusedByItsKey) {
  for (const json& flag : {json(false), json()}) {
    EXPECT_THAT(RefusalOf(Gemma3(), {{"use_bidirectional_attention", flag}}),
                HasSubstr("'use_bidirectional_attention'"));
  }
  EXPECT_THAT(RefusalOf(Gemma3(), {{"attn_logit_softcapping", 50.0}}),
              HasSubstr("'attn_logit_softcapping'"));
  EXPECT_THAT(RefusalOf(Gemma3(), {{"rope_scaling", {{"factor", 8.0}}}}),
              HasSubstr("'rope_scaling'"));
  EXPECT_THAT(RefusalOf(Gemma3(), {{"sliding_window", nullptr}}), HasSubstr("'sliding_window'"));
  EXPECT_THAT(RefusalOf(Gemma3(), {{"architectures", {"Gemma3ForCausalLM"}}}),
              HasSubstr("mpsd knows Gemma3TextModel"));
}

}  // namespace
}  // namespace mpsd
