#include "client/web/answer_json.h"

#include "absl/strings/str_cat.h"

namespace mpsd::client {

std::string JsonText(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json Field(const Json& json, const char* key) {
  return json.is_object() ? json.value(key, Json()) : Json();
}

absl::Status WrongAnswer(absl::string_view what) {
  return absl::InternalError(absl::StrCat("the server's answer ", what));
}

}  // namespace mpsd::client
