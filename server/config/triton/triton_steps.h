// TritonSteps: turns Triton's ensemble_scheduling into the steps of a ModelConfig.
#pragma once

#include "absl/status/status.h"
#include "proto/model_config.pb.h"
#include "server/config/config.h"

namespace mpsd {

// Whether the configuration, or `model` before it, has steps. Pure.
bool IsOfSteps(const inference::ModelConfig& triton, const ModelConfig& model);

// Replaces the model's steps if the configuration has some, and checks them by all rules of a
// config. The keys have the same names: `step`, `model_name`, `model_version`, `input_map`,
// `output_map`. INVALID_ARGUMENT names the key at fault, also for keys about workers. REQUIRES: the
// tensors of `triton` were applied. Pure.
absl::Status ApplySteps(const inference::ModelConfig& triton, ModelConfig* model);

}  // namespace mpsd
