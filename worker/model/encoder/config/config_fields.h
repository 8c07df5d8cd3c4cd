// config_fields: reads the keys of a config.json and checks the bounds of its numbers.
//
//   int64_t layers = 12;
//   absl::Status status = ReadNumber(json, "num_hidden_layers", 1, kMaxLayers, &layers);
//
// The file is untrusted. Bounds keep later sums and products from overflowing. A key that is
// missing or null leaves the value unchanged, unless a function says otherwise. INVALID_ARGUMENT
// names a key with a wrong type or value. All functions are thread-safe.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"
#include "worker/model/encoder/config/activation.h"

namespace mpsd {

inline constexpr int64_t kMaxConfigSize = 1 << 24;  // largest size that a key may give

absl::Status Refused(absl::string_view what);

// Null if the key is missing or null. Borrowed from `json`.
const nlohmann::json* Find(const nlohmann::json& json, const char* key);

// Empty unless the value is a text.
std::string TextAt(const nlohmann::json& json, const char* key);

// Cut short, for an error's text.
std::string Shown(const nlohmann::json& json);

// The key is required.
absl::Status ReadNumber(const nlohmann::json& json, const char* key, int64_t minimum,
                        int64_t maximum, int64_t* number);

// Refuses if a key is missing. For keys whose default depends on the tool that wrote the file.
absl::Status CheckTold(const nlohmann::json& json, std::initializer_list<const char*> keys);

absl::Status ReadReal(const nlohmann::json& json, const char* key, double minimum, double maximum,
                      double* number);

absl::Status ReadFlag(const nlohmann::json& json, const char* key, bool* flag);

absl::Status ReadActivation(const nlohmann::json& json, const char* key, Activation* activation);

// Refuses another value than the one beside the key.
absl::Status CheckFixed(const nlohmann::json& json,
                        std::initializer_list<std::pair<const char*, nlohmann::json>> fixed);

}  // namespace mpsd
