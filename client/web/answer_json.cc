#include "client/web/answer_json.h"

#include "absl/strings/str_cat.h"
#include "proto/base/json_bounds.h"

namespace mpsd::client {
namespace {

constexpr size_t kMostDepth = 32;
constexpr size_t kMostValues = 1 << 24;

}  // namespace

std::string JsonText(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json ParseAnswer(absl::string_view text) {
  if (CheckJsonBounds(text, kMostDepth, kMostValues) != JsonBound::kWithin) return {};
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return {};
  return json;
}

const Json& Field(const Json& json, const char* key) {
  static const Json* const kNone = new Json();
  if (!json.is_object()) return *kNone;
  const auto found = json.find(key);
  return found == json.end() ? *kNone : *found;
}

absl::Status WrongAnswer(absl::string_view what) {
  return absl::InternalError(absl::StrCat("the server's answer ", what));
}

}  // namespace mpsd::client
