// BertConfig: the sizes of a BERT encoder, from its config.json.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mpsd {

struct BertConfig {
  int64_t hidden_size = 0;
  int64_t layer_count = 0;
  int64_t head_count = 0;
  int64_t intermediate_size = 0;
  int64_t vocabulary_size = 0;
  int64_t position_count = 0;
  int64_t token_type_count = 0;
  double layer_norm_epsilon = 1e-12;
};

// INVALID_ARGUMENT names the key at fault; that includes model types, activations and position
// embeddings that the importer does not support. Pure.
absl::StatusOr<BertConfig> ParseBertConfig(absl::string_view json);

}  // namespace mpsd
