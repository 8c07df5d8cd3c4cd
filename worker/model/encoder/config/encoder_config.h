// EncoderConfig: which encoder a Hugging Face folder holds, and its sizes, from config.json.
//
//   family                         encoder            besides
//   bert                           BertEncoder        token types
//   roberta, xlm-roberta,          BertEncoder        token types; positions from pad_token_id + 1
//     camembert
//   distilbert                     BertEncoder
//   mpnet                          BertEncoder        a bias of each attention by distance;
//                                                     positions from 2
//   nomic_bert, new, gte           GatedBertEncoder   token types; positions as rotations
//   modernbert                     ModernBertEncoder  rotations; layers that see near tokens alone
//   qwen3                          DecoderEncoder     rotations; tokens see those before them
//   gemma3_text                    DecoderEncoder     rotations; layers that see near tokens alone
//
// Anything unknown is refused by its name: without it, a folder would give other answers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "worker/model/encoder/config/activation.h"

namespace mpsd {

enum class EncoderFamily {
  kBert,
  kRoberta,
  kXlmRoberta,
  kCamembert,
  kDistilBert,
  kMpnet,
  kModernBert,
  kNomicBert,
  kNewGte,  // model_type "new"
  kGte,
  kQwen3,
  kGemma3
};

// The part above the encoder.
//
//   kNone        Nothing that belongs to the answer.
//   kTraining    A training head for words, which an embedder's folder may still name.
//   kClassifier  One score for each label.
//   kYesOrNo     One score: how much likelier the next word is "yes" than "no".
enum class HeadKind { kNone, kTraining, kClassifier, kYesOrNo };

// For families with rotations. Plain data.
struct RotaryConfig {
  std::vector<bool> is_local;  // per layer: layer_types; global_attn_every_n_layers
  int64_t reach = 0;       // tokens to each side that a local layer sees: half of local_attention
  double theta = 0;        // rope_parameters; global_rope_theta; rope_theta
  double local_theta = 0;  // for local layers; local_rope_theta; rope_local_base_freq
  double stretch = 1;      // divides the angles: rope_scaling
  bool has_attention_bias = false;
  bool has_up_bias = false;    // mlp_bias; mlp_fc1_bias
  bool has_down_bias = false;  // mlp_bias; mlp_fc2_bias
  bool has_norm_bias = false;
  bool has_head_bias = false;                      // classifier_bias
  bool head_is_mean = false;                       // classifier_pooling is mean, not cls
  Activation head_activation = Activation::kGelu;  // classifier_activation
};

// For former decoders, whose heads have their own size and share keys. Plain data.
struct DecoderConfig {
  int64_t head_size = 0;             // head_dim
  int64_t key_value_head_count = 0;  // num_key_value_heads
  double score_scale = 0;            // for an attention; query_pre_attn_scalar ^ -1/2
  bool is_causal = false;
  bool ties_words = false;  // words are told by their embeddings; tie_word_embeddings
};

// Comments name the key of config.json; DistilBERT's own key follows a semicolon. Plain data.
struct EncoderConfig {
  EncoderFamily family = EncoderFamily::kBert;  // model_type
  HeadKind head = HeadKind::kNone;              // architectures
  int64_t hidden_size = 0;                      // hidden_size; dim. A multiple of head_count
  int64_t layer_count = 0;                      // num_hidden_layers; n_layers
  int64_t head_count = 0;                       // num_attention_heads; n_heads
  int64_t intermediate_size = 0;                // intermediate_size; hidden_dim
  int64_t vocabulary_size = 0;                  // vocab_size
  int64_t position_count = 0;                   // max_position_embeddings
  int64_t token_type_count = 0;                 // type_vocab_size; 0 if the family has none
  int64_t distance_buckets = 0;                 // relative_attention_num_buckets; 0: no bias
  int64_t first_position = 0;                   // first position used in that table
  int64_t pad_token = 0;                        // pad_token_id
  double layer_norm_epsilon = 1e-12;            // layer_norm_eps
  Activation activation = Activation::kGelu;    // hidden_act; activation
  RotaryConfig rotary;
  DecoderConfig decoder;                     // kQwen3 and kGemma3 only
  std::vector<std::string> labels;           // id2label; only for scores
  bool labels_are_told = false;              // by id2label or num_labels
  Activation score = Activation::kIdentity;  // turns a classifier's logits into scores

  int64_t max_tokens() const { return position_count - first_position; }
};

// transformers' default, if nothing tells the number.
inline constexpr int64_t kUsualLabels = 2;

// Parses an untrusted config.json. Ignores unknown keys, but refuses keys that change the answer.
// These are a quantization, a decoder, relative position embeddings, pruned heads, settings that we
// do not compute, and code (auto_map) other than the family's first. INVALID_ARGUMENT names the
// wrong key. Pure.
absl::StatusOr<EncoderConfig> ParseEncoderConfig(absl::string_view json,
                                                 int64_t usual_labels = kUsualLabels);

// As in config.json: "xlm-roberta".
absl::string_view NameOf(EncoderFamily family);

}  // namespace mpsd
