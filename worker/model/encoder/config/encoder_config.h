// EncoderConfig: which encoder a folder of Hugging Face's holds, and its sizes, from config.json.
//
// The families differ in the names of their tensors (encoder_names.h), in what is added to an
// attention, and in the order of their steps, for which there are four encoders:
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
// Whatever this folder does not know is refused by its name. Nothing is dropped: a folder whose
// head or code were left out would answer something else.
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

// What stands above the encoder. kNone: nothing that is part of the answer. kTraining: a head that
// the encoder was trained with, for words, which a folder of an embedder may still name.
// kClassifier: scores of a row, one a label.
enum class HeadKind { kNone, kTraining, kClassifier };

// Of families whose positions are rotations. Plain data.
struct RotaryConfig {
  std::vector<bool> is_local;  // of each layer: layer_types; global_attn_every_n_layers
  int64_t reach = 0;           // of a local layer to each side: half of local_attention
  double theta = 0;            // rope_parameters; global_rope_theta; rope_theta
  double local_theta = 0;      // the same of local layers; local_rope_theta; rope_local_base_freq
  double stretch = 1;          // divides the angles: rope_scaling
  bool has_attention_bias = false;
  bool has_up_bias = false;    // mlp_bias; mlp_fc1_bias
  bool has_down_bias = false;  // mlp_bias; mlp_fc2_bias
  bool has_norm_bias = false;
  bool has_head_bias = false;                      // classifier_bias
  bool head_is_mean = false;                       // classifier_pooling is mean, not cls
  Activation head_activation = Activation::kGelu;  // classifier_activation
};

// Of families that were decoders, whose heads have a size of their own and share keys. Plain data.
struct DecoderConfig {
  int64_t head_size = 0;             // head_dim
  int64_t key_value_head_count = 0;  // num_key_value_heads
  double score_scale = 0;            // of an attention; query_pre_attn_scalar to the power of -1/2
  bool is_causal = false;            // a token sees itself and those before it
};

// The names are ours; the key of config.json stands behind each, and DistilBERT's own key after a
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
  int64_t token_type_count = 0;                 // type_vocab_size; 0 where the family has none
  int64_t distance_buckets = 0;                 // relative_attention_num_buckets; 0: no bias
  int64_t first_position = 0;                   // of the table above
  int64_t pad_token = 0;                        // pad_token_id
  double layer_norm_epsilon = 1e-12;            // layer_norm_eps
  Activation activation = Activation::kGelu;    // hidden_act; activation
  RotaryConfig rotary;                          // of families with rotations
  DecoderConfig decoder;                        // of kQwen3, kGemma3
  std::vector<std::string> labels;              // id2label, by number; of a classifier, else empty
  Activation score = Activation::kIdentity;     // makes a classifier's scores of its logits

  // Tokens of the longest row.
  int64_t max_tokens() const { return position_count - first_position; }
};

// The config whose text is `json`; keys beside those above are ignored, but for these, which are
// refused: code of the folder's own (auto_map) unless it is that with which the family was
// published, which is not needed; a quantization, a decoder, relative position embeddings, pruned
// heads, and what a family's file may say that we do not compute. INVALID_ARGUMENT names the key at
// fault. The text is untrusted. Pure.
absl::StatusOr<EncoderConfig> ParseEncoderConfig(absl::string_view json);

// The word of config.json: "xlm-roberta".
absl::string_view NameOf(EncoderFamily family);

}  // namespace mpsd
