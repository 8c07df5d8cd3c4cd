// GrpcForm: the form that gRPC gives to a request and its reply over HTTP/2.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/bodies/grpc/call_deadline.h"
#include "server/bodies/grpc/status_map.h"
#include "server/door/route/body_coding.h"
#include "server/http/http_call.h"
#include "server/http/http_reply.h"
#include "server/http/http_request.h"

namespace mpsd {

//   request   POST /package.Service/Method, content-type: application/grpc[+proto]
//             body: one message, and before it a flag and four bytes of its length; the flag
//             is 1 if the message is compressed as grpc-encoding says, else 0
//   reply     200, a body of the same form; grpc-status behind the body, as a trailer
//   error     200 without a body: grpc-status, grpc-message and grpc-status-details-bin are headers

inline constexpr char kGrpcType[] = "application/grpc";
inline constexpr char kGrpcTimeout[] = "grpc-timeout";
inline constexpr size_t kGrpcPrefixBytes = 5;

enum class GrpcKind : uint8_t {
  kNone,     // no call of gRPC
  kOwn,      // the form above
  kWeb,      // gRPC-Web, see grpc_web.h
  kWebText,  // the same in base64
};

// The kind of call, by its content type. Calls of kOwn need trailers, and so HTTP/2. Pure.
GrpcKind GrpcKindOf(const HttpCall& call);

// The deadline of a call whose header grpc-timeout is `timeout`: up to eight digits and one of the
// units H, M, S, m, u, n. Computed once, on arrival, for all steps of the call's requests. Setting
// the wall clock does not move it.
//
//   no header                 DefaultDeadline()
//   more than 300 s from now  kMaxTimeoutNs from now, so that no request is held for ever
//   in u or n                 that time
//   any other                 1 ms or a quarter of the rest sooner, because a client that counts
//                             milliseconds has rounded up
//
// INVALID_ARGUMENT for another text. Pure.
absl::StatusOr<CallDeadline> GrpcDeadline(absl::string_view timeout, int64_t now_ns,
                                          int64_t default_ns);

// When a call with this grpc-timeout is over; kNoDeadlineNs if the header is empty. Pure.
absl::StatusOr<int64_t> GrpcEnd(absl::string_view timeout, int64_t now_ns);

// How the call's compressed messages are compressed, by its header grpc-encoding. UNIMPLEMENTED for
// another encoding than gzip and deflate, and for these unless `allowed`; then the reply gets the
// header grpc-accept-encoding.
absl::StatusOr<BodyCoding> GrpcCoding(HttpCall* call, bool allowed);

// How the answer to a compressed message of this call may be compressed: as the message, if the
// header grpc-accept-encoding has it. Pure.
BodyCoding AnswerCoding(const HttpRequest& request, BodyCoding coding);

// Whether a message with this flag is compressed, in a call with this coding. INTERNAL for a flag
// that has no meaning there. Pure.
absl::StatusOr<bool> IsCompressed(char flag, BodyCoding coding);

// The length of the message behind a prefix. REQUIRES: kGrpcPrefixBytes. Pure.
uint64_t GrpcLength(absl::string_view prefix);

struct GrpcMessage {
  absl::string_view bytes;
  bool is_compressed = false;
};

// The message in the body of a unary call. A compressed message without bytes is an empty one.
// INTERNAL as IsCompressed(), and INVALID_ARGUMENT unless the body is exactly one message. Pure.
absl::StatusOr<GrpcMessage> GrpcMessageOf(absl::string_view body, BodyCoding coding);

// The length of a unary call's body by its first bytes; 0: these are too few. Pure.
size_t GrpcBodyBytes(absl::string_view first);

// The flag of a message and the four bytes of its length. Pure.
std::string GrpcPrefix(char flag, size_t bytes);

// A body that begins with room for the prefix. The message is appended, then GrpcReply() called.
inline std::string GrpcBody() { return std::string(kGrpcPrefixBytes, '\0'); }

// Writes the prefix of the message that begins so, and is whole now but for so many bytes that lie
// elsewhere. Pure.
void EndGrpcMessage(std::string* body, size_t elsewhere = 0);

// The reply with this message: writes the prefix. REQUIRES: the body began as GrpcBody(). Pure.
HttpReply GrpcReply(std::string body, Splices splices = {});

// Compresses the message of such a reply, and says so in a header, if that makes the message
// shorter. Blocks as Deflate(). REQUIRES: gzip or deflate, and no splices.
void CompressReply(BodyCoding coding, HttpReply* reply);

// The reply to a call that ends with an error. Pure.
HttpReply GrpcError(const absl::Status& status, StatusStyle style);

// The end of a call of several messages, after as many as it had; OK is no error. The status is in
// the trailers if the reply `has_parts`, else in the headers. Pure.
HttpReply GrpcLast(const absl::Status& status, StatusStyle style, bool has_parts);

}  // namespace mpsd
