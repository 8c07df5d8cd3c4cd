// encoder_families: how each family's config.json names the family, its heads and its sizes.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"
#include "worker/model/encoder/config/encoder_config.h"

namespace mpsd {

// A key is null if the family has none.
struct ConfigKeys {
  const char* hidden_size;
  const char* layer_count;
  const char* head_count;
  const char* intermediate_size;
  const char* position_count;
  const char* activation;
  Activation usual_activation;
  const char* epsilon;
  double usual_epsilon;
};

// Architectures are named `prefix` and "Model", or `prefix` and `training_head`, which is null if
// no folder with that head is served.
struct FamilyRow {
  EncoderFamily family;
  absl::string_view model_type;
  absl::string_view prefix;
  const char* training_head;
  bool has_classifier;
  bool was_published_with_code;  // folders may name the code in auto_map
  const ConfigKeys* keys;
};

// Looks at model_type. INVALID_ARGUMENT names an unknown one. Pure.
absl::StatusOr<FamilyRow> ReadFamily(const nlohmann::json& json);

// INVALID_ARGUMENT names unknown architectures. Pure.
absl::StatusOr<HeadKind> ReadHead(const nlohmann::json& json, const FamilyRow& family);

// Refuses code (auto_map) that is not the family's own. Pure.
absl::Status CheckCode(const nlohmann::json& json, const FamilyRow& family);

// A file may have the keys of the family's first publication. Pure.
const ConfigKeys& KeysOf(const nlohmann::json& json, const FamilyRow& family);

}  // namespace mpsd
