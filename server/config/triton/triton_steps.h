// TritonSteps: Triton's ensemble_scheduling as steps.
#pragma once

#include "absl/status/status.h"
#include "proto/model_config.pb.h"
#include "server/config/config.h"

namespace mpsd {

// Whether either has steps. Pure.
bool IsOfSteps(const inference::ModelConfig& triton, const ModelConfig& model);

// Replaces the model's steps, if `triton` has some, and checks them by a config's rules.
// INVALID_ARGUMENT names the key at fault, also for keys about workers. REQUIRES: the tensors of
// `triton` were applied. Pure.
absl::Status ApplySteps(const inference::ModelConfig& triton, ModelConfig* model);

}  // namespace mpsd
