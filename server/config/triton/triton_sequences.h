// TritonSequences: a Triton configuration's sequences.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/model_config.pb.h"
#include "server/config/config.h"

namespace mpsd {

// Its tensors join the spec's, behind the others, unless the model's file says the spec. Keys
// without effect go to `ignored`. INVALID_ARGUMENT names the key at fault. REQUIRES: all other keys
// were applied. Pure.
absl::Status ApplySequences(const inference::ModelConfig& triton, ModelConfig* model,
                            std::vector<std::string>* ignored);

// Adds to `fresh`, which replaces `spec`, missing tensors that the policy names and no client sends
// or gets. Pure.
void KeepSequenceTensors(const SequencePolicy& policy, const ModelSpec& spec, ModelSpec* fresh);

}  // namespace mpsd
