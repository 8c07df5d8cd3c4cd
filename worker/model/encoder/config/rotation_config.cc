#include "worker/model/encoder/config/rotation_config.h"

#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "worker/model/encoder/config/config_fields.h"

namespace mpsd {
namespace {

using Json = nlohmann::json;

constexpr double kMaxTheta = 1e12;
constexpr double kMaxStretch = 1e6;

absl::Status CheckTheta(const Json& theta, const char* kind) {
  if (theta.is_number() && theta >= 1.0 && theta <= kMaxTheta) return absl::OkStatus();
  return Refused(absl::StrCat("'rope_theta' of ", kind, " must be a number from 1 to 1e12"));
}

absl::Status ReadStretch(const Json& scaling, int64_t head_size, RotaryConfig* rotary) {
  const std::string type =
      TextAt(scaling, Find(scaling, "rope_type") != nullptr ? "rope_type" : "type");
  if (Find(scaling, "mixed_b") != nullptr) return Refused("'mixed_b' is not supported");
  if (type.empty() || type == "default") return absl::OkStatus();
  const bool is_bounded = Find(scaling, "original_max_position_embeddings") == nullptr;
  if (type == "dynamic" && is_bounded) return absl::OkStatus();
  if (type != "linear" && type != "ntk") {
    return Refused(absl::StrCat("'rope_type' is \"", type.substr(0, 100),
                                "\"; mpsd knows default, linear, ntk"));
  }
  double factor = 0;
  absl::Status status = ReadReal(scaling, "factor", 1, kMaxStretch, &factor);
  if (!status.ok()) return status;
  if (factor == 0) return Refused("'factor' of the rotations is missing");
  rotary->stretch = factor;
  if (type == "ntk") {
    rotary->theta *= factor;
    rotary->stretch = std::pow(factor, 2.0 / static_cast<double>(head_size));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadTheta(const Json& json, const char* kind, const char* old_key, double* theta) {
  const Json* found = Find(json, old_key);
  if (const Json* all = Find(json, "rope_parameters"); all != nullptr && all->is_object()) {
    const Json* of_kind = Find(*all, kind);
    if (of_kind != nullptr && of_kind->is_object()) {
      const std::string type = TextAt(*of_kind, "rope_type");
      if (!type.empty() && type != "default") {
        return Refused(
            absl::StrCat("'rope_type' must be \"default\", not \"", type.substr(0, 100), "\""));
      }
      if (Find(*of_kind, "rope_theta") != nullptr) found = Find(*of_kind, "rope_theta");
    }
  }
  if (found == nullptr) return absl::OkStatus();
  if (absl::Status status = CheckTheta(*found, kind); !status.ok()) return status;
  *theta = *found;
  return absl::OkStatus();
}

absl::Status ReadRotation(const Json& json, const char* theta_key, int64_t head_size,
                          RotaryConfig* rotary) {
  const Json* theta = Find(json, theta_key);
  const Json* scaling = Find(json, "rope_scaling");
  if (scaling == nullptr) scaling = Find(json, "rope_parameters");
  if (scaling != nullptr && !scaling->is_object()) {
    return Refused(absl::StrCat("'rope_scaling' is ", Shown(*scaling), ", which is no object"));
  }
  if (scaling != nullptr && Find(*scaling, "rope_theta") != nullptr) {
    theta = Find(*scaling, "rope_theta");
  }
  if (theta != nullptr) {
    if (absl::Status status = CheckTheta(*theta, "all layers"); !status.ok()) return status;
    rotary->theta = *theta;
  }
  absl::Status status = CheckFixed(json, {{"partial_rotary_factor", 1.0}});
  if (scaling == nullptr) return status;
  status.Update(CheckFixed(*scaling, {{"partial_rotary_factor", 1.0}}));
  status.Update(ReadStretch(*scaling, head_size, rotary));
  return status;
}

absl::Status ReadLocalLayers(const Json& json, int64_t layer_count, int64_t every, int64_t first,
                             RotaryConfig* rotary) {
  const Json* kinds = Find(json, "layer_types");
  if (kinds == nullptr) {
    for (int64_t i = 0; i < layer_count; ++i) {
      rotary->is_local.push_back(i % every != first);
    }
    return absl::OkStatus();
  }
  if (!kinds->is_array() || kinds->size() != static_cast<size_t>(layer_count)) {
    return Refused("'layer_types' must be an array with a text for each layer");
  }
  for (const Json& kind : *kinds) {
    if (kind != "full_attention" && kind != "sliding_attention") {
      return Refused(absl::StrCat("'layer_types' has ", Shown(kind),
                                  "; mpsd knows full_attention, sliding_attention"));
    }
    rotary->is_local.push_back(kind == "sliding_attention");
  }
  return absl::OkStatus();
}

absl::Status CheckHeadIsEven(int64_t head_size) {
  if (head_size % 2 == 0) return absl::OkStatus();
  return Refused("the numbers of a head must be even, so that its positions can be rotations");
}

}  // namespace mpsd
