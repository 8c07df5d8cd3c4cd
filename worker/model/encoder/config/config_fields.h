// config_fields: reads the keys of a config.json, with the bounds that its numbers have.
//
//   int64_t layers = 12;
//   absl::Status status = ReadNumber(json, "num_hidden_layers", 1, kMaxLayers, &layers);
//
// The file comes from outside: each number has bounds, so that what is computed from several of
// them cannot overflow, and no key may have a value of another type. A key that is missing or null
// leaves the value as it is, unless a function says otherwise. Errors are INVALID_ARGUMENT and name
// the key. All functions are thread-safe.
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

inline constexpr int64_t kMaxConfigSize = 1 << 24;  // of a size that a key may tell

// INVALID_ARGUMENT with that text.
absl::Status Refused(absl::string_view what);

// Null where the key is missing or its value null. Borrowed from `json`.
const nlohmann::json* Find(const nlohmann::json& json, const char* key);

// Empty where there is no text, or the value is of another type.
std::string TextAt(const nlohmann::json& json, const char* key);

// For an error's text: a part of an untrusted file, cut short.
std::string Shown(const nlohmann::json& json);

// A whole number within the bounds, which must be there.
absl::Status ReadNumber(const nlohmann::json& json, const char* key, int64_t minimum,
                        int64_t maximum, int64_t* number);

// Refuses where one of these is missing: for keys whose default differs from one writer of such
// files to another.
absl::Status CheckTold(const nlohmann::json& json, std::initializer_list<const char*> keys);

// A number within the bounds.
absl::Status ReadReal(const nlohmann::json& json, const char* key, double minimum, double maximum,
                      double* number);

// True or false.
absl::Status ReadFlag(const nlohmann::json& json, const char* key, bool* flag);

// One of ActivationOfLayer().
absl::Status ReadActivation(const nlohmann::json& json, const char* key, Activation* activation);

// Refuses a key that is there with another value than the one beside it.
absl::Status CheckFixed(const nlohmann::json& json,
                        std::initializer_list<std::pair<const char*, nlohmann::json>> fixed);

}  // namespace mpsd
