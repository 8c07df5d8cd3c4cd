// TritonSteps: turns Triton's ensemble_scheduling into the steps of a ModelConfig.
#pragma once

#include "absl/status/status.h"
#include "proto/model_config.pb.h"
#include "server/config/config.h"

namespace mpsd {

// Whether the configuration, or `model` already, is one of steps. Pure.
bool IsOfSteps(const inference::ModelConfig& triton, const ModelConfig& model);

// Replaces the model's steps where the configuration has some, and checks them by every rule of a
// config. The same names mean the same: `step`, `model_name`, `model_version`, `input_map`,
// `output_map`. INVALID_ARGUMENT names the key at fault, also for keys that are about workers.
// REQUIRES: the tensors of `triton` were applied. Pure.
absl::Status ApplySteps(const inference::ModelConfig& triton, ModelConfig* model);

}  // namespace mpsd
