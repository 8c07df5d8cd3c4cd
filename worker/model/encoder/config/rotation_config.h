// rotation_config: the keys of config.json about positions as rotations, and about local layers.
//
// Files of different years use different keys. INVALID_ARGUMENT names the wrong key. All pure.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "nlohmann/json.hpp"
#include "worker/model/encoder/config/encoder_config.h"

namespace mpsd {

// The base for one kind of layer: below `kind` in rope_parameters, or `old_key` in an older file.
// Leaves `theta` unchanged if the file does not say it.
absl::Status ReadTheta(const nlohmann::json& json, const char* kind, const char* old_key,
                       double* theta);

// The base and the stretch for all layers: rope_parameters or rope_scaling, and `theta_key`.
// Ignores a stretch that begins beyond the model's positions, because no row is that long.
absl::Status ReadRotation(const nlohmann::json& json, const char* theta_key, int64_t head_size,
                          RotaryConfig* rotary);

// Reads layer_types. Without it, all layers are local except `first` and every `every`-th layer
// after it.
absl::Status ReadLocalLayers(const nlohmann::json& json, int64_t layer_count, int64_t every,
                             int64_t first, RotaryConfig* rotary);

// A head's numbers are turned in pairs.
absl::Status CheckHeadIsEven(int64_t head_size);

}  // namespace mpsd
