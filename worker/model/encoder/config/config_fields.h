// config_fields: reads the keys of a config.json and checks the bounds of its numbers.
//
//   int64_t layers = 12;
//   absl::Status status = ReadNumber(json, "num_hidden_layers", 1, kMaxLayers, &layers);
//
// The file comes from outside. Each number has bounds, so that computing with several cannot
// overflow. No key may have a value of the wrong type. A key that is missing or null leaves the
// value unchanged, unless a function says otherwise. Errors are INVALID_ARGUMENT and name the key.
// All functions are thread-safe.
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

inline constexpr int64_t kMaxConfigSize = 1 << 24;  // the largest size that a key may give

// INVALID_ARGUMENT with that text.
absl::Status Refused(absl::string_view what);

// Null if the key is missing or its value is null. Borrowed from `json`.
const nlohmann::json* Find(const nlohmann::json& json, const char* key);

// Empty if there is no text, or the value is of another type.
std::string TextAt(const nlohmann::json& json, const char* key);

// A part of an untrusted file, cut short, for an error's text.
std::string Shown(const nlohmann::json& json);

// A whole number within the bounds; the key is required.
absl::Status ReadNumber(const nlohmann::json& json, const char* key, int64_t minimum,
                        int64_t maximum, int64_t* number);

// Refuses if one of these keys is missing. For keys whose default depends on the tool that wrote
// the file.
absl::Status CheckTold(const nlohmann::json& json, std::initializer_list<const char*> keys);

absl::Status ReadReal(const nlohmann::json& json, const char* key, double minimum, double maximum,
                      double* number);

absl::Status ReadFlag(const nlohmann::json& json, const char* key, bool* flag);

// One of the activations that ActivationOfLayer() knows.
absl::Status ReadActivation(const nlohmann::json& json, const char* key, Activation* activation);

// Refuses a key that has another value than the one given beside it.
absl::Status CheckFixed(const nlohmann::json& json,
                        std::initializer_list<std::pair<const char*, nlohmann::json>> fixed);

}  // namespace mpsd
