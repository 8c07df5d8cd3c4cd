#include "text/tokenizer/fields.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/json_bounds.h"

namespace mpsd::text {
namespace {

const Json& EmptyObject() {
  static const Json* const empty = new Json(Json::object());
  return *empty;
}

}  // namespace

absl::Status PartError(absl::string_view where, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(where, ": ", what));
}

absl::Status ParseJson(absl::string_view text, absl::string_view where, Json* json) {
  const JsonBound bound = CheckJsonBounds(text, kMaxJsonDepth, kMaxJsonValues);
  if (bound == JsonBound::kTooDeep) return PartError(where, "it is too deep");
  if (bound == JsonBound::kTooManyValues) return PartError(where, "it has too many values");
  *json = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  return json->is_object() ? absl::OkStatus() : PartError(where, "it is no JSON object");
}

Fields::Fields(const Json& json, std::string where) : json_(&json), where_(std::move(where)) {
  if (json.is_object()) return;
  json_ = &EmptyObject();
  Complain("it must be an object");
}

bool Fields::Flag(const char* key, bool missing) {
  const Json* value = Find(key);
  if (value == nullptr) return missing;
  if (value->is_boolean()) return value->get<bool>();
  Complain(absl::StrCat("'", key, "' must be true or false"));
  return missing;
}

std::string Fields::Text(const char* key, const std::string& missing) {
  const Json* value = Find(key);
  if (value == nullptr) return missing;
  if (value->is_string()) return value->get<std::string>();
  Complain(absl::StrCat("'", key, "' must be a text"));
  return missing;
}

int64_t Fields::Number(const char* key, int64_t missing, int64_t least, int64_t most) {
  const Json* value = Find(key);
  if (value == nullptr) return missing;
  if (value->is_number_unsigned() && value->get<uint64_t>() <= static_cast<uint64_t>(most) &&
      static_cast<int64_t>(value->get<uint64_t>()) >= least) {
    return static_cast<int64_t>(value->get<uint64_t>());
  }
  Complain(absl::StrCat("'", key, "' must be a number of ", least, " to ", most));
  return missing;
}

const Json* Fields::Find(const char* key) {
  known_.insert(key);
  const auto found = json_->find(key);
  return found == json_->end() || found->is_null() ? nullptr : &*found;
}

const Json* Fields::Need(const char* key) {
  const Json* value = Find(key);
  if (value == nullptr) Complain(absl::StrCat("'", key, "' is missing"));
  return value;
}

void Fields::Complain(absl::string_view what) { status_.Update(PartError(where_, what)); }

absl::Status Fields::Finish() {
  for (const auto& item : json_->items()) {
    if (known_.count(item.key()) == 0) {
      Complain(absl::StrCat("'", item.key(), "' is not known"));
    }
  }
  return status_;
}

}  // namespace mpsd::text
