// rotation_config: the keys of config.json about positions as rotations, and about local layers.
//
// Files of different years say the same by different keys. INVALID_ARGUMENT names the key at fault.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "nlohmann/json.hpp"
#include "worker/model/encoder/config/encoder_config.h"

namespace mpsd {

// The base of a kind of layer's rotations: of a newer file below `kind` in rope_parameters, of an
// older one by `old_key`. `theta` stays where the file does not say it. Pure.
absl::Status ReadTheta(const nlohmann::json& json, const char* kind, const char* old_key,
                       double* theta);

// The base and the stretch of rotations that all layers share: rope_parameters or rope_scaling, and
// `theta_key`. A stretch that begins beyond the model's positions is none, since no row is longer.
// Pure.
absl::Status ReadRotation(const nlohmann::json& json, const char* theta_key, int64_t head_size,
                          RotaryConfig* rotary);

// Which layers are local: layer_types, else all but each `every`-th, of which the first is layer
// `first`. Pure.
absl::Status ReadLocalLayers(const nlohmann::json& json, int64_t layer_count, int64_t every,
                             int64_t first, RotaryConfig* rotary);

// Refuses an odd number of numbers a head, which are turned in pairs. Pure.
absl::Status CheckHeadIsEven(int64_t head_size);

}  // namespace mpsd
