#include "server/bodies/json/json_walk.h"

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"

namespace mpsd {
namespace {

// Triton's clients know these words.
absl::Status WrongType(absl::string_view field, absl::string_view wanted) {
  return Unparsable(field, absl::StrCat("attempt to access JSON non-", wanted, " as ", wanted));
}

// Any failure of simdjson's `get` means another type.
template <typename Got, typename Value>
absl::Status Take(Got got, absl::string_view field, absl::string_view wanted, Value* value) {
  return std::move(got).get(*value) == simdjson::SUCCESS ? absl::OkStatus()
                                                         : WrongType(field, wanted);
}

absl::Status SkipScalar(ondemand::value value, ondemand::json_type type) {
  simdjson::error_code error = simdjson::SUCCESS;
  switch (type) {
    case ondemand::json_type::string:
      error = value.get_string().error();
      break;
    case ondemand::json_type::number:
      error = value.get_double().error();
      break;
    case ondemand::json_type::boolean:
      error = value.get_bool().error();
      break;
    default:
      error = IsNull(value) ? simdjson::SUCCESS : simdjson::N_ATOM_ERROR;
  }
  return error ? NotJson(error) : absl::OkStatus();
}

}  // namespace

absl::Status NotJson(simdjson::error_code error) {
  const bool is_other = error == simdjson::INCORRECT_TYPE;  // "hello", 5, [] or nothing of JSON
  return absl::InvalidArgumentError(
      absl::StrCat("failed to parse the request JSON buffer: ",
                   is_other ? "it is no JSON object" : simdjson::error_message(error)));
}

absl::Status Unparsable(absl::string_view field, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("Unable to parse '", field, "': ", why));
}

absl::Status NoField(absl::string_view field) {
  return Unparsable(field,
                    absl::StrCat("attempt to access non-existing object member '", field, "'"));
}

absl::Status TooDeep(int most) {
  return absl::InvalidArgumentError(
      absl::StrCat("JSON nesting depth exceeds maximum allowed limit (", most, ")"));
}

bool IsNull(ondemand::value value) {
  bool null = false;
  return simdjson::simdjson_result<bool>(value.is_null()).get(null) == simdjson::SUCCESS && null;
}

absl::Status ReadText(ondemand::value value, absl::string_view field, absl::string_view* text) {
  std::string_view view;
  absl::Status status = Take(value.get_string(), field, "string", &view);
  if (status.ok()) *text = View(view);
  return status;
}

absl::Status ReadFlag(ondemand::value value, absl::string_view field, bool* flag) {
  return Take(value.get_bool(), field, "boolean", flag);
}

absl::Status ReadUnsigned(ondemand::value value, absl::string_view field, uint64_t* number) {
  return Take(value.get_uint64(), field, "unsigned-integer", number);
}

absl::Status ReadSigned(ondemand::value value, absl::string_view field, int64_t* number) {
  return Take(value.get_int64(), field, "signed-integer", number);
}

absl::Status ReadArray(ondemand::value value, absl::string_view field, ondemand::array* array) {
  return Take(value.get_array(), field, "array", array);
}

absl::Status ReadObject(ondemand::value value, absl::string_view field, ondemand::object* object) {
  return Take(value.get_object(), field, "object", object);
}

absl::Status SkipValue(ondemand::value value, int depth) {
  ondemand::json_type type;
  if (const auto error = value.type().get(type); error) return NotJson(error);
  const bool nests = type == ondemand::json_type::array || type == ondemand::json_type::object;
  if (!nests) return SkipScalar(value, type);
  if (depth >= kMaxJsonDepth) return TooDeep(kMaxJsonDepth);
  if (type == ondemand::json_type::array) {
    ondemand::array array;
    if (const auto error = value.get_array().get(array); error) return NotJson(error);
    return ForEachElement(
        array, [depth](ondemand::value element) { return SkipValue(element, depth + 1); });
  }
  ondemand::object object;
  if (const auto error = value.get_object().get(object); error) return NotJson(error);
  return ForEachField(object, [depth](absl::string_view, ondemand::value field) {
    return SkipValue(field, depth + 1);
  });
}

absl::Status CheckEnd(ondemand::document* document) {
  const bool at_end = document->current_location().error() == simdjson::OUT_OF_BOUNDS;
  return at_end ? absl::OkStatus() : NotJson(simdjson::TAPE_ERROR);
}

absl::Status SeenKeys::Add(absl::string_view key) {
  if (++count_ > kMaxJsonFields) {
    return absl::InvalidArgumentError(
        absl::StrCat("a JSON object has at most ", kMaxJsonFields, " fields"));
  }
  const auto again = [key] {
    return absl::InvalidArgumentError(
        absl::StrCat("the JSON field '", key.substr(0, 128), "' comes twice"));
  };
  if (absl::c_linear_search(few_, key)) return again();
  if (few_.size() < few_.capacity()) {
    few_.push_back(key);
    return absl::OkStatus();
  }
  return many_.insert(key).second ? absl::OkStatus() : again();
}

}  // namespace mpsd
