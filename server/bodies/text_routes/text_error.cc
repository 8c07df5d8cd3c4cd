#include "server/bodies/text_routes/text_error.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/bodies/json/json_text.h"
#include "server/request/too_long.h"

namespace mpsd {
namespace {

constexpr int kTooLarge = 413;
constexpr int kInvalidOfTei = 422;
constexpr int kFailedOfTei = 424;

absl::string_view OpenAiType(int code) {
  switch (code) {
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 429:
      return "rate_limit_error";
    case 503:
      return "service_unavailable_error";
    case 504:
      return "timeout_error";
    default:
      return code < 500 ? "invalid_request_error" : "server_error";
  }
}

// As a JSON value.
absl::string_view OpenAiCode(int code) {
  switch (code) {
    case 401:
      return "\"invalid_api_key\"";
    case 404:
      return "\"model_not_found\"";
    case kTooLarge:
      return "\"context_length_exceeded\"";
    case 429:
      return "\"rate_limit_exceeded\"";
    default:
      return "null";
  }
}

absl::string_view TeiType(int code) {
  switch (code) {
    case 429:
      return "Overloaded";
    case 503:
      return "Unhealthy";
    default:
      return code < 500 && code != kFailedOfTei ? "Validation" : "Backend";
  }
}

int TeiCode(int code) {
  if (code == 400) return kInvalidOfTei;
  return code == 500 ? kFailedOfTei : code;
}

// With `has_path` a 404 means a missing model.
std::string OpenAiJson(absl::string_view text, int code, bool has_path = true) {
  const bool is_model = code == 404 && has_path;
  std::string json = R"({"error":{"message":)";
  PutJsonText(text, &json);
  absl::StrAppend(&json, R"(,"type":")", OpenAiType(code), R"(","param":)",
                  is_model ? "\"model\"" : "null", R"(,"code":)",
                  code == 404 && !has_path ? "\"unknown_url\"" : OpenAiCode(code),
                  R"(},"detail":)");
  PutJsonText(text, &json);
  json += '}';
  return json;
}

std::string TeiJson(absl::string_view text, int code) {
  std::string json = R"({"error":)";
  PutJsonText(text, &json);
  absl::StrAppend(&json, R"(,"error_type":")", TeiType(code), "\"}");
  return json;
}

}  // namespace

TextError TextErrorOf(const absl::Status& status, int code, ErrorForm form) {
  if (IsTooLong(status)) code = kTooLarge;
  switch (form) {
    case ErrorForm::kOpenAi:
      return {code, OpenAiJson(status.message(), code)};
    case ErrorForm::kTei:
      return {TeiCode(code), TeiJson(status.message(), TeiCode(code))};
    case ErrorForm::kPlain:
      break;
  }
  return {code, ErrorJson(status.message())};
}

std::string NoSuchPathJson(ErrorForm form) {
  constexpr char kText[] = "there is no such path";
  if (form == ErrorForm::kOpenAi) return OpenAiJson(kText, 404, /*has_path=*/false);
  return TextErrorOf(absl::NotFoundError(kText), 404, form).json;
}

}  // namespace mpsd
