// answer_json: JSON in requests and answers. All pure and thread-safe.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace mpsd::client {

using Json = nlohmann::json;

// On one line. Bytes that are not UTF-8 become U+FFFD.
std::string JsonText(const Json& json);

// Null if the text is no JSON, or deeper or larger than any answer. Anybody may have sent it.
Json ParseAnswer(absl::string_view text);

// Lies in `json`; null if `json` is no object or lacks the field.
const Json& Field(const Json& json, const char* key);
const Json& Field(Json&& json, const char* key) = delete;

// INTERNAL: "the server's answer " and `what`, such as "is no list of models".
absl::Status WrongAnswer(absl::string_view what);

}  // namespace mpsd::client
