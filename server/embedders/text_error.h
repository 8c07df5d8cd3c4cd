// TextError: how the text routes word a refusal, for the clients that know other servers' words.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "server/embedders/text_route.h"

namespace mpsd {

// The code of HTTP, where the route has another one than ours, and the body.
struct TextError {
  int code = 0;
  std::string json;
};

// The refusal of a request whose code would be `code` on our other routes. A text or a list that
// IsTooLong() is 413 everywhere. TEI's clients know two codes of their own: 422 where a body says
// what cannot be done, and 424 where the model has failed.
//
//   form      body
//   kOpenAi   {"error":{"message":"…","type":"invalid_request_error","param":null,"code":null},
//              "detail":"…"}, the message again, which Jina's clients show
//   kTei      {"error":"…","error_type":"Validation"}
//   kPlain    {"error":"…"}
//
// Pure.
TextError TextErrorOf(const absl::Status& status, int code, ErrorForm form);

// The body of a 404 for a path that is not there: no model is missing. Pure.
std::string NoSuchPathJson(ErrorForm form);

}  // namespace mpsd
