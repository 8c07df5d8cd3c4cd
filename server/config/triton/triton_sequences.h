// TritonSequences: the sequences of a Triton model configuration.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/model_config.pb.h"
#include "server/config/config.h"

namespace mpsd {

// Applies `sequence_batching`. Its tensors become inputs and outputs of the model's spec, behind
// the others, unless the spec is left to the model's file. Keys that make no difference here go to
// `ignored`. INVALID_ARGUMENT names the key at fault. Without the key the model stays as it is.
// REQUIRES: all other keys were applied. Pure.
absl::Status ApplySequences(const inference::ModelConfig& triton, ModelConfig* model,
                            std::vector<std::string>* ignored);

// Adds to `fresh`, which replaces `spec`, the tensors of `spec` that the policy names and no client
// sends or gets. Leaves out those that `fresh` has. Pure.
void KeepSequenceTensors(const SequencePolicy& policy, const ModelSpec& spec, ModelSpec* fresh);

}  // namespace mpsd
