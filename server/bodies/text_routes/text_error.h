// TextError: refusals on the text routes, in the words of other servers.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "server/bodies/text_routes/text_route.h"

namespace mpsd {

// The HTTP code, if the route has its own, and the body.
struct TextError {
  int code = 0;
  std::string json;
};

// The refusal of a request whose code on mpsd's other routes would be `code`. A text or list that
// IsTooLong() is 413 everywhere. TEI's clients know two more codes: 422 if a body asks for
// something impossible, and 424 if the model has failed.
//
//   form      body
//   kOpenAi   {"error":{"message":"…","type":"invalid_request_error","param":null,"code":null},
//              "detail":"…"}, the message again, which Jina's clients show
//   kTei      {"error":"…","error_type":"Validation"}
//   kPlain    {"error":"…"}
//
// Pure.
TextError TextErrorOf(const absl::Status& status, int code, ErrorForm form);

// The body of a 404 for an unknown path: no model is missing. Pure.
std::string NoSuchPathJson(ErrorForm form);

}  // namespace mpsd
