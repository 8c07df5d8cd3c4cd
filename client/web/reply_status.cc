#include "client/web/reply_status.h"

#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/web/answer_json.h"

namespace mpsd::client {
namespace {

using Json = nlohmann::json;

absl::StatusCode CodeOf(unsigned code) {
  switch (code) {
    case 400:
    case 413:
    case 415:
    case 422:
      return absl::StatusCode::kInvalidArgument;
    case 401:
      return absl::StatusCode::kUnauthenticated;
    case 403:
      return absl::StatusCode::kPermissionDenied;
    case 404:
      return absl::StatusCode::kNotFound;
    case 408:
    case 504:
      return absl::StatusCode::kDeadlineExceeded;
    case 424:
    case 500:
      return absl::StatusCode::kInternal;
    case 429:
      return absl::StatusCode::kResourceExhausted;
    case 499:
      return absl::StatusCode::kCancelled;
    case 501:
      return absl::StatusCode::kUnimplemented;
    case 502:
    case 503:
      return absl::StatusCode::kUnavailable;
    default:
      return absl::StatusCode::kUnknown;
  }
}

// Empty if there is no text.
std::string TextOf(absl::string_view body) {
  Json json = ParseAnswer(body);
  if (json.is_object() && json.contains("error")) json = Json(json["error"]);
  if (json.is_object() && json.contains("message")) json = Json(json["message"]);
  return json.is_string() ? json.get<std::string>() : "";
}

}  // namespace

absl::Status ReplyStatus(unsigned code, absl::string_view body) {
  if (code >= 200 && code < 300) return absl::OkStatus();
  const std::string text = TextOf(body);
  if (!text.empty()) return {CodeOf(code), text};
  const bool lacks_path = code == 404 || code == 405 || code == 501;
  return {CodeOf(code), absl::StrCat("the server answered HTTP ", code,
                                     lacks_path ? "; it may be a server of another kind" : "")};
}

}  // namespace mpsd::client
