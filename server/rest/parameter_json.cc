#include "server/rest/parameter_json.h"

#include "absl/strings/str_cat.h"

namespace mpsd {
namespace {

bool ReadNumber(ondemand::value value, inference::InferParameter* parameter) {
  int64_t number = 0;
  uint64_t large = 0;
  double real = 0;
  if (!value.get_int64().get(number)) {
    parameter->set_int64_param(number);
  } else if (!value.get_uint64().get(large)) {
    parameter->set_uint64_param(large);
  } else if (!value.get_double().get(real)) {
    parameter->set_double_param(real);
  } else {
    return false;
  }
  return true;
}

}  // namespace

absl::Status ReadParameter(ondemand::value value, absl::string_view name,
                           inference::InferParameter* parameter) {
  ondemand::json_type type;
  if (const auto error = value.type().get(type); error) return NotJson(error);
  if (type == ondemand::json_type::string) {
    absl::string_view text;
    const absl::Status status = ReadText(value, name, &text);
    parameter->set_string_param(std::string(text));
    return status;
  }
  if (type == ondemand::json_type::boolean) {
    bool flag = false;
    const absl::Status status = ReadFlag(value, name, &flag);
    parameter->set_bool_param(flag);
    return status;
  }
  if (type == ondemand::json_type::number && ReadNumber(value, parameter)) return absl::OkStatus();
  // Clients know this text.
  return absl::InvalidArgumentError(absl::StrCat(
      "parameter '", name, "' has invalid type. It should be either 'int', 'bool', or 'string'."));
}

}  // namespace mpsd
