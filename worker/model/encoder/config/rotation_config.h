// rotation_config: the keys of config.json about positions as rotations, and about local layers.
//
// Files of different years say the same by different keys. INVALID_ARGUMENT names the wrong key.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "nlohmann/json.hpp"
#include "worker/model/encoder/config/encoder_config.h"

namespace mpsd {

// The base of the rotations of one kind of layer: below `kind` in rope_parameters in a newer file,
// `old_key` in an older one. Leaves `theta` unchanged if the file does not say it. Pure.
absl::Status ReadTheta(const nlohmann::json& json, const char* kind, const char* old_key,
                       double* theta);

// The base and the stretch of rotations that all layers share: rope_parameters or rope_scaling, and
// `theta_key`. A stretch that begins beyond the model's positions is ignored, because no row is
// that long. Pure.
absl::Status ReadRotation(const nlohmann::json& json, const char* theta_key, int64_t head_size,
                          RotaryConfig* rotary);

// Which layers are local, by layer_types. Without it, all layers are local except layer `first` and
// every `every`-th layer after it. Pure.
absl::Status ReadLocalLayers(const nlohmann::json& json, int64_t layer_count, int64_t every,
                             int64_t first, RotaryConfig* rotary);

// Refuses a head with an odd number of numbers, because they are turned in pairs. Pure.
absl::Status CheckHeadIsEven(int64_t head_size);

}  // namespace mpsd
