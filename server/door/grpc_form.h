// GrpcForm: the form that gRPC gives to a request and its reply over HTTP/2.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/http/http_reply.h"
#include "server/http/http_request.h"
#include "server/wire/call_deadline.h"
#include "server/wire/status_map.h"

namespace mpsd {

//   request   POST /package.Service/Method, content-type: application/grpc[+proto]
//             body: one message, and before it a byte 0 and four bytes of its length
//   reply     200, a body of the same form; grpc-status behind the body, as a trailer
//   error     200 without a body: grpc-status, grpc-message and grpc-status-details-bin are headers

inline constexpr char kGrpcType[] = "application/grpc";
inline constexpr size_t kGrpcPrefixBytes = 5;

// Whether the request is a call of gRPC, by its content type. Pure.
bool IsGrpc(const HttpRequest& request);

// The deadline of a call whose header grpc-timeout is `timeout`: up to eight digits and one of the
// units H, M, S, m, u, n. The rules of MonotonicDeadline() hold, with the client's full resolution.
// INVALID_ARGUMENT for another text. Pure.
absl::StatusOr<CallDeadline> GrpcDeadline(absl::string_view timeout, int64_t now_ns,
                                          int64_t default_ns);

// The message in the body of a unary call. UNIMPLEMENTED if the message is compressed, and
// INVALID_ARGUMENT unless the body is exactly one message. Pure.
absl::StatusOr<absl::string_view> GrpcMessageOf(absl::string_view body);

// A body that begins with room for the prefix. The message is appended, then GrpcReply() called.
inline std::string GrpcBody() { return std::string(kGrpcPrefixBytes, '\0'); }

// The reply with this message: writes the prefix. REQUIRES: the body began as GrpcBody(). Pure.
HttpReply GrpcReply(std::string body);

// The reply to a call that ends with an error. Pure.
HttpReply GrpcError(const absl::Status& status, StatusStyle style);

}  // namespace mpsd
