// classifier_config: the labels of a classifier's head, and how its logits become scores.
#pragma once

#include "absl/status/status.h"
#include "nlohmann/json.hpp"
#include "worker/model/encoder/config/encoder_config.h"

namespace mpsd {

// Reads `labels` and `score` from a config.json with such a head. INVALID_ARGUMENT names the wrong
// key. Pure.
absl::Status ReadClassifierConfig(const nlohmann::json& json, EncoderConfig* config);

}  // namespace mpsd
