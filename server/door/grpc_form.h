// GrpcForm: gRPC's form of requests and replies over HTTP/2.
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

// By the content type. Calls of kOwn need trailers, and so HTTP/2. Pure.
GrpcKind GrpcKindOf(const HttpCall& call);

// The deadline by grpc-timeout: up to eight digits and a unit of H, M, S, m, u, n. Computed once,
// on arrival.
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

// The end by grpc-timeout; kNoDeadlineNs for an empty one. Pure.
absl::StatusOr<int64_t> GrpcEnd(absl::string_view timeout, int64_t now_ns);

// By grpc-encoding. UNIMPLEMENTED for anything but gzip and deflate, and for these unless
// `allowed`; then the reply gets the header grpc-accept-encoding.
absl::StatusOr<BodyCoding> GrpcCoding(HttpCall* call, bool allowed);

// How the answer may be compressed: as the message, if grpc-accept-encoding allows it. Pure.
BodyCoding AnswerCoding(const HttpRequest& request, BodyCoding coding);

// By a message's flag. INTERNAL for a flag without a meaning in this coding. Pure.
absl::StatusOr<bool> IsCompressed(char flag, BodyCoding coding);

// REQUIRES: kGrpcPrefixBytes. Pure.
uint64_t GrpcLength(absl::string_view prefix);

struct GrpcMessage {
  absl::string_view bytes;
  bool is_compressed = false;
};

// The message of a unary call. A compressed one without bytes is empty. INTERNAL as IsCompressed(),
// and INVALID_ARGUMENT unless the body is exactly one message. Pure.
absl::StatusOr<GrpcMessage> GrpcMessageOf(absl::string_view body, BodyCoding coding);

// The length of a unary call's body; 0: `first` is too short. Pure.
size_t GrpcBodyBytes(absl::string_view first);

// Flag, and length in four bytes. Pure.
std::string GrpcPrefix(char flag, size_t bytes);

// Room for the prefix: the message follows, then GrpcReply().
inline std::string GrpcBody() { return std::string(kGrpcPrefixBytes, '\0'); }

// Writes the prefix of a whole message; `elsewhere` of its bytes lie elsewhere. Pure.
void EndGrpcMessage(std::string* body, size_t elsewhere = 0);

// Writes the prefix. REQUIRES: the body began as GrpcBody(). Pure.
HttpReply GrpcReply(std::string body, Splices splices = {});

// Compresses the message, and adds the header, if that saves bytes. Blocks as Deflate(). REQUIRES:
// gzip or deflate, and no splices.
void CompressReply(BodyCoding coding, HttpReply* reply);

// Pure.
HttpReply GrpcError(const absl::Status& status, StatusStyle style);

// The end of a call of several messages. The status is in the trailers if the reply `has_parts`,
// else in the headers. Pure.
HttpReply GrpcLast(const absl::Status& status, StatusStyle style, bool has_parts);

}  // namespace mpsd
