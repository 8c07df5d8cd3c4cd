// TextError: refusals on the text routes, in the words of other servers.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "server/bodies/text_routes/text_route.h"

namespace mpsd {

// The code is 0 if the route has none of its own.
struct TextError {
  int code = 0;
  std::string json;
};

// `code` is the one of mpsd's other routes. IsTooLong() is 413 everywhere. TEI's clients also know
// 422, for something impossible, and 424, for a failed model.
//
//   form      body
//   kOpenAi   {"error":{"message":"…","type":"invalid_request_error","param":null,"code":null},
//              "detail":"…"}, the message again, which Jina's clients show
//   kTei      {"error":"…","error_type":"Validation"}
//   kPlain    {"error":"…"}
//
// Pure.
TextError TextErrorOf(const absl::Status& status, int code, ErrorForm form);

// A 404: no model is missing. Pure.
std::string NoSuchPathJson(ErrorForm form);

}  // namespace mpsd
