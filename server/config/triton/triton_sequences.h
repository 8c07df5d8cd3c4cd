// TritonSequences: what a model configuration of Triton says of sequences.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/model_config.pb.h"
#include "server/config/config.h"

namespace mpsd {

// Applies `sequence_batching`; the tensors that it tells of become inputs and outputs of the
// model's spec, behind those that are there, unless the spec is left to the model's file. Appends
// the keys that make no difference here to `ignored`. INVALID_ARGUMENT names the key at fault.
// Without the key the model stays as it is. REQUIRES: all other keys were applied. Pure.
absl::Status ApplySequences(const inference::ModelConfig& triton, ModelConfig* model,
                            std::vector<std::string>* ignored);

// The tensors of `spec` that no client sends or gets, of a model with that policy, join `fresh`
// unless they are there: `fresh` replaces a spec that had them. Pure.
void KeepSequenceTensors(const SequencePolicy& policy, const ModelSpec& spec, ModelSpec* fresh);

}  // namespace mpsd
