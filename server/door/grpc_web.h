// GrpcWeb: the form of gRPC-Web, for pages in a browser.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "server/door/grpc_form.h"
#include "server/http/http_call.h"
#include "server/http/http_reply.h"

namespace mpsd {

// A page can neither read trailers nor be sure of HTTP/2. So a call may come by HTTP/1.1:
//
//   request   as gRPC's, with content-type: application/grpc-web[-text][+proto]
//   reply     as gRPC's, and behind the messages one frame more. Its flag is 0x80, and its bytes
//             are the lines of the trailers
//   error     as gRPC's, in the headers
//   -text     the body of the request, and each part of the reply, is in base64

// Takes the body, as gRPC has it. INVALID_ARGUMENT if it should be in base64, and is not.
absl::StatusOr<std::string> GrpcBodyOf(GrpcKind kind, HttpCall* call);

// From gRPC's form into the call's, a part too. Pure.
void ToWeb(GrpcKind kind, HttpReply* reply);

}  // namespace mpsd
