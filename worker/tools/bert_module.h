// bert_module: writes a BERT encoder with mean pooling as a TorchScript archive.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "worker/tools/bert_config.h"
#include "worker/tools/safetensors.h"

namespace mpsd {

// The archive's forward(input_ids [B,L], attention_mask [B,L]) returns {"sentence_embedding":
// [B,hidden]}: the mean of the last layer over the tokens that the mask keeps, scaled to length 1.
// A row without such a token gives zeros. INVALID_ARGUMENT names a tensor that is missing or whose
// shape contradicts `config`.
absl::Status WriteBert(const BertConfig& config, const Safetensors& weights,
                       const std::string& path);

}  // namespace mpsd
