#include "worker/model/encoder/config/config_fields.h"

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace mpsd {
namespace {

using Json = nlohmann::json;

}  // namespace

absl::Status Refused(absl::string_view what) { return absl::InvalidArgumentError(what); }

const Json* Find(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found == json.end() || found->is_null() ? nullptr : &*found;
}

std::string TextAt(const Json& json, const char* key) {
  const Json* found = Find(json, key);
  return found != nullptr && found->is_string() ? found->get<std::string>() : "";
}

std::string Shown(const Json& json) {
  std::string text = json.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > 100) text = absl::StrCat(text.substr(0, 100), "…");
  return text;
}

absl::Status ReadNumber(const Json& json, const char* key, int64_t minimum, int64_t maximum,
                        int64_t* number) {
  const Json* found = Find(json, key);
  if (found == nullptr || !found->is_number_unsigned() || *found > maximum || *found < minimum) {
    return Refused(
        absl::StrCat("'", key, "' must be a whole number from ", minimum, " to ", maximum));
  }
  *number = found->get<int64_t>();
  return absl::OkStatus();
}

absl::Status CheckTold(const Json& json, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    if (Find(json, key) == nullptr) return Refused(absl::StrCat("'", key, "' is missing"));
  }
  return absl::OkStatus();
}

absl::Status ReadReal(const Json& json, const char* key, double minimum, double maximum,
                      double* number) {
  const Json* found = Find(json, key);
  if (found == nullptr) return absl::OkStatus();
  if (!found->is_number() || *found < minimum || *found > maximum) {
    return Refused(absl::StrCat("'", key, "' must be a number from ", minimum, " to ", maximum));
  }
  *number = *found;
  return absl::OkStatus();
}

absl::Status ReadFlag(const Json& json, const char* key, bool* flag) {
  const Json* found = Find(json, key);
  if (found == nullptr) return absl::OkStatus();
  if (!found->is_boolean()) return Refused(absl::StrCat("'", key, "' must be true or false"));
  *flag = *found;
  return absl::OkStatus();
}

absl::Status ReadActivation(const Json& json, const char* key, Activation* activation) {
  const Json* found = Find(json, key);
  if (found == nullptr) return absl::OkStatus();
  const absl::StatusOr<Activation> known =
      ActivationOfLayer(found->is_string() ? found->get<std::string>() : "");
  if (!known.ok()) {
    return Refused(absl::StrCat("'", key, "' is ", Shown(*found), "; ", known.status().message()));
  }
  *activation = *known;
  return absl::OkStatus();
}

absl::Status CheckFixed(const Json& json,
                        std::initializer_list<std::pair<const char*, Json>> fixed) {
  for (const auto& [key, value] : fixed) {
    const Json* found = Find(json, key);
    if (found == nullptr || *found == value) continue;
    return Refused(
        absl::StrCat("'", key, "' is ", Shown(*found), "; mpsd knows ", Shown(value), " alone"));
  }
  return absl::OkStatus();
}

}  // namespace mpsd
