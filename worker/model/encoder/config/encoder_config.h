// EncoderConfig: which encoder a Hugging Face folder holds, and its sizes, from config.json.
//
// The families differ in the names of their tensors (encoder_names.h), in what is added to an
// attention, and in the order of their steps. Four encoders cover the orders:
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
// Whatever this folder does not know is refused by its name. Nothing is dropped: without its head
// or its code, a folder would give other answers.
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

// For families whose positions are rotations. Plain data.
struct RotaryConfig {
  std::vector<bool> is_local;  // for each layer: layer_types; global_attn_every_n_layers
  int64_t reach = 0;           // how far a local layer sees to each side: half of local_attention
  double theta = 0;            // rope_parameters; global_rope_theta; rope_theta
  double local_theta = 0;      // for local layers; local_rope_theta; rope_local_base_freq
  double stretch = 1;          // divides the angles: rope_scaling
  bool has_attention_bias = false;
  bool has_up_bias = false;    // mlp_bias; mlp_fc1_bias
  bool has_down_bias = false;  // mlp_bias; mlp_fc2_bias
  bool has_norm_bias = false;
  bool has_head_bias = false;                      // classifier_bias
  bool head_is_mean = false;                       // classifier_pooling is mean, not cls
  Activation head_activation = Activation::kGelu;  // classifier_activation
};

// For families that were decoders, whose heads have a size of their own and share keys. Plain data.
struct DecoderConfig {
  int64_t head_size = 0;             // head_dim
  int64_t key_value_head_count = 0;  // num_key_value_heads
  double score_scale = 0;            // for an attention; query_pre_attn_scalar to the power of -1/2
  bool is_causal = false;            // a token sees itself and those before it
  bool ties_words = false;           // words are told by their embeddings; tie_word_embeddings
};

// The names are ours. The comment has the key of config.json, and DistilBERT's own key after a
// semicolon. Plain data.
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
  RotaryConfig rotary;                          // if the family has rotations
  DecoderConfig decoder;                        // kQwen3 and kGemma3 only
  std::vector<std::string> labels;              // id2label, by number; only for scores
  bool labels_are_told = false;                 // by id2label or num_labels
  Activation score = Activation::kIdentity;     // turns a classifier's logits into scores

  // The most tokens in a row.
  int64_t max_tokens() const { return position_count - first_position; }
};

// A classifier's labels if nothing tells how many it has: transformers' default.
inline constexpr int64_t kUsualLabels = 2;

// Parses `json`, the text of a config.json. Unknown keys are ignored, except keys that change the
// answer: these are refused. They are the folder's own code (auto_map), a quantization, a decoder,
// relative position embeddings, pruned heads, and family settings that we do not compute. Code with
// which the family was published is allowed, because it is not needed. A classifier has
// `usual_labels` labels if the text tells no number. INVALID_ARGUMENT names the wrong key. The text
// is untrusted. Pure.
absl::StatusOr<EncoderConfig> ParseEncoderConfig(absl::string_view json,
                                                 int64_t usual_labels = kUsualLabels);

// The family's word in config.json: "xlm-roberta".
absl::string_view NameOf(EncoderFamily family);

}  // namespace mpsd
