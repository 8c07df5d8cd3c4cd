// family_config: reads the settings of a config.json besides the sizes, by kind of family.
//
// The sizes must be read before. INVALID_ARGUMENT names the wrong key. All pure.
#pragma once

#include "absl/status/status.h"
#include "nlohmann/json.hpp"
#include "worker/model/encoder/config/encoder_config.h"

namespace mpsd {

// Token types, MPNet's distances, and where positions start.
absl::Status ReadBertConfig(const nlohmann::json& json, EncoderConfig* config);

absl::Status ReadModernBertConfig(const nlohmann::json& json, EncoderConfig* config);

// NomicBERT, by its own keys or by GPT-2's, and GTE.
absl::Status ReadGatedBertConfig(const nlohmann::json& json, EncoderConfig* config);

absl::Status ReadDecoderConfig(const nlohmann::json& json, EncoderConfig* config);

}  // namespace mpsd
