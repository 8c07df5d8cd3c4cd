// classifier_config: the labels of a classifier's head, and what makes scores of its logits.
#pragma once

#include "absl/status/status.h"
#include "nlohmann/json.hpp"
#include "worker/model/encoder/config/encoder_config.h"

namespace mpsd {

// Reads `labels` and `score` of a config.json with such a head. INVALID_ARGUMENT names the key at
// fault. Pure.
absl::Status ReadClassifierConfig(const nlohmann::json& json, EncoderConfig* config);

}  // namespace mpsd
