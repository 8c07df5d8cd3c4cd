// EncoderConfig: which encoder a folder of Hugging Face's holds, and its sizes, from config.json.
//
// All families but the last normalize after each sum (BertEncoder). They differ in the names of
// their tensors (encoder_names.h), in where positions start, and in what is added to an attention:
//
//   family                         positions start at   besides
//   bert                           0                    token types
//   roberta, xlm-roberta,          pad_token_id + 1     token types
//     camembert
//   distilbert                     0
//   mpnet                          2                    a bias of each attention by distance
//   modernbert                     0, as rotations      layers that see near tokens alone
//
// Whatever this file does not know is refused by its name. Nothing is dropped: a folder whose head
// or code were left out would answer something else.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mpsd {

enum class EncoderFamily {
  kBert,
  kRoberta,
  kXlmRoberta,
  kCamembert,
  kDistilBert,
  kMpnet,
  kModernBert
};

// The function between the two linear maps of a layer, or of a head.
enum class Activation { kIdentity, kGelu, kGeluTanh, kRelu, kSilu, kTanh, kSigmoid, kSoftmax };

// What stands above the encoder. kNone: nothing that is part of the answer. kMaskedLm: the head
// that the encoder was trained with, which a folder of an embedder may still name. kClassifier:
// scores of a row, one a label.
enum class HeadKind { kNone, kMaskedLm, kClassifier };

// Of families whose positions are rotations. Plain data.
struct RotaryConfig {
  std::vector<bool> is_local;  // of each layer: layer_types; global_attn_every_n_layers
  int64_t reach = 0;           // of a local layer to each side: half of local_attention
  double theta = 0;            // rope_parameters; global_rope_theta
  double local_theta = 0;      // the same of local layers; local_rope_theta
  bool has_attention_bias = false;
  bool has_up_bias = false;  // mlp_bias
  bool has_norm_bias = false;
  bool has_head_bias = false;                      // classifier_bias
  bool head_is_mean = false;                       // classifier_pooling is mean, not cls
  Activation head_activation = Activation::kGelu;  // classifier_activation
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
  RotaryConfig rotary;                          // of kModernBert
  std::vector<std::string> labels;              // id2label, by number; of a classifier, else empty
  Activation score = Activation::kIdentity;     // makes a classifier's scores of its logits

  // Tokens of the longest row.
  int64_t max_tokens() const { return position_count - first_position; }
};

// The config whose text is `json`; keys beside those above are ignored, but for these, which are
// refused: code of the folder's own (auto_map), a quantization, a decoder, relative position
// embeddings, pruned heads. INVALID_ARGUMENT names the key at fault. The text is untrusted. Pure.
absl::StatusOr<EncoderConfig> ParseEncoderConfig(absl::string_view json);

// The words of config.json and of people: "xlm-roberta", "gelu".
absl::string_view NameOf(EncoderFamily family);
absl::string_view NameOf(Activation activation);

// The activation of a class of PyTorch, such as "torch.nn.modules.activation.Tanh" or "Sigmoid";
// INVALID_ARGUMENT names one that is not known. Pure.
absl::StatusOr<Activation> ActivationOfClass(absl::string_view name);

}  // namespace mpsd
