// BertConfig: the sizes of a BERT encoder, from its config.json.
//
// The first step of mpsd-import-bert, which makes a TorchScript archive of a folder as Hugging Face
// tools save it: config.json (here), model.safetensors (safetensors.h), what follows the encoder
// (sentence_config.h), and then the archive (bert_module.h). The importer knows BERT with gelu and
// absolute positions, and says so of anything else, such as an architecture with a head, instead of
// writing an archive that computes something else.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mpsd {

// The names are ours; the key of config.json stands behind each. Plain data.
struct BertConfig {
  int64_t hidden_size = 0;            // hidden_size, a multiple of head_count
  int64_t layer_count = 0;            // num_hidden_layers, at most 256
  int64_t head_count = 0;             // num_attention_heads
  int64_t intermediate_size = 0;      // intermediate_size
  int64_t vocabulary_size = 0;        // vocab_size
  int64_t position_count = 0;         // max_position_embeddings: the longest row of tokens
  int64_t token_type_count = 0;       // type_vocab_size
  double layer_norm_epsilon = 1e-12;  // layer_norm_eps; this unless the file says another
};

// The config whose text is `json`; keys beside those above are ignored. INVALID_ARGUMENT names the
// key at fault: missing, no whole number from 1 to 2^24, or an architecture, a model type, an
// activation or position embeddings that the importer does not support. Pure.
absl::StatusOr<BertConfig> ParseBertConfig(absl::string_view json);

}  // namespace mpsd
