#include "server/door/grpc_web.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace mpsd {
namespace {

constexpr char kTrailersFlag = '\x80';

}  // namespace

absl::StatusOr<std::string> GrpcBodyOf(GrpcKind kind, HttpCall* call) {
  std::string body = call->TakeBody();
  if (kind != GrpcKind::kWebText) return body;
  std::string bytes;
  if (absl::Base64Unescape(body, &bytes)) return bytes;
  return absl::InvalidArgumentError("the body of the call is not in base64");
}

void ToWeb(GrpcKind kind, HttpReply* reply) {
  if (kind == GrpcKind::kOwn) return;
  if (!reply->trailers.empty()) {
    const std::string trailers = std::exchange(reply->trailers, std::string());
    absl::StrAppend(&reply->body, GrpcPrefix(kTrailersFlag, trailers.size()), trailers);
  }
  const bool is_text = kind == GrpcKind::kWebText;
  reply->content_type = is_text ? "application/grpc-web-text+proto" : "application/grpc-web+proto";
  if (is_text) reply->body = absl::Base64Escape(reply->body);
  reply->tells_length = true;
}

}  // namespace mpsd
