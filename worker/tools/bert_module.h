// bert_module: writes a BERT encoder with its pooling as a TorchScript archive.
//
// The last step of mpsd-import-bert. The archive is written from its parts, without Python: weights
// under our own names, and the source of a forward that calls libtorch's operators directly. So it
// has none of the layers of a Python module, the three projections of an attention are one matrix,
// and the embedding of the token type, which is 0 for every token here, is added to the positions
// once, at import.
//
// The archive holds an mpsd.json with the spec, and `mpsd serve FILE` needs no further word:
//
//   input_ids, attention_mask   INT64[-1], both padded to 16, 32, 64, 128 or 256 tokens, as far as
//                               the model has positions
//   sentence_embedding          FP32[hidden_size]
//   at most 32 rows a batch
#pragma once

#include <string>

#include "absl/status/status.h"
#include "worker/tools/bert_config.h"
#include "worker/tools/safetensors.h"
#include "worker/tools/sentence_config.h"

namespace mpsd {

// The archive's forward(input_ids [B,L], attention_mask [B,L]) returns {"sentence_embedding":
// [B,hidden]}, scaled to length 1: with kMean the mean of the last layer over the tokens that the
// mask keeps, and zeros for a row without such a token; with kCls the last layer's first token. The
// weights are of the dtype F32, F16 or BF16, with or without the prefix "bert." before their names,
// and become F32. The pooler's weights are left out, since sentences do not use them.
//
// INVALID_ARGUMENT names a tensor that is missing, whose shape contradicts `config`, whose dtype is
// another, or that the archive has no place for, as those of a head; nothing is written then.
// UNKNOWN: libtorch could not write the file. Blocks for seconds.
absl::Status WriteBert(const BertConfig& config, BertPooling pooling, const Safetensors& weights,
                       const std::string& path);

}  // namespace mpsd
