// answer_json: JSON as this folder writes it in requests and reads it in answers. Pure functions,
// all thread-safe.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace mpsd::client {

using Json = nlohmann::json;

// On one line. Bytes that are no UTF-8 become U+FFFD.
std::string JsonText(const Json& json);

// A server's answer; null if it is no JSON, or deeper or larger than any answer that is read here.
// The server may be anybody's.
Json ParseAnswer(absl::string_view text);

// The field of an object, where it lies in `json`; null where `json` is no object or has no such
// field.
const Json& Field(const Json& json, const char* key);
const Json& Field(Json&& json, const char* key) = delete;

// INTERNAL: "the server's answer " and `what`, such as "is no list of models".
absl::Status WrongAnswer(absl::string_view what);

}  // namespace mpsd::client
