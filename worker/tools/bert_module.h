// Writes a BERT encoder with mean pooling as a TorchScript archive.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "worker/tools/bert_config.h"
#include "worker/tools/safetensors.h"

namespace mpsd {

// forward(input_ids [B,L], attention_mask [B,L]) gives {"sentence_embedding": [B,hidden]}: the mean
// of the last layer over the tokens that the mask keeps, of length 1. A row without such a token
// gives zeros. INVALID_ARGUMENT names the tensor that is missing or of another shape than `config`
// says.
absl::Status WriteBert(const BertConfig& config, const Safetensors& weights,
                       const std::string& path);

}  // namespace mpsd
