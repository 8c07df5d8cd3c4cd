#include "server/door/grpc_form.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "proto/base/clock.h"
#include "proto/base/limits.h"
#include "server/bodies/inflate/deflate.h"
#include "server/door/message_inflation.h"

namespace mpsd {
namespace {

constexpr size_t kMaxTimeoutDigits = 8;
constexpr char kOkLine[] = "grpc-status: 0\r\n";
constexpr char kEncoding[] = "grpc-encoding";
constexpr char kAccepted[] = "grpc-accept-encoding";

enum Flag : char { kPlainFlag = 0, kCompressedFlag = 1 };

// 0: no unit of gRPC.
int64_t UnitNs(char unit) {
  switch (unit) {
    case 'H':
      return 3600 * kNsPerSecond;
    case 'M':
      return 60 * kNsPerSecond;
    case 'S':
      return kNsPerSecond;
    case 'm':
      return kNsPerMs;
    case 'u':
      return 1000;
    case 'n':
      return 1;
    default:
      return 0;
  }
}

// Bytes that a header cannot hold, blanks at its ends, and the escape itself become "%41".
std::string PercentEncoded(absl::string_view text) {
  std::string encoded;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool is_end = i == 0 || i + 1 == text.size();
    if (c >= ' ' && c <= '~' && c != '%' && !(c == ' ' && is_end)) {
      encoded.push_back(c);
    } else {
      absl::StrAppendFormat(&encoded, "%%%02X", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

absl::string_view NameOf(BodyCoding coding) {
  return coding == BodyCoding::kGzip ? "gzip" : "deflate";
}

void PutPrefix(char flag, size_t bytes, std::string* body) {
  (*body)[0] = flag;
  for (size_t i = 1; i < kGrpcPrefixBytes; ++i) {
    (*body)[i] = static_cast<char>(bytes >> 8 * (kGrpcPrefixBytes - 1 - i));
  }
}

std::string Unpadded(absl::string_view bytes) {
  std::string encoded = absl::Base64Escape(bytes);
  while (!encoded.empty() && encoded.back() == '=') encoded.pop_back();
  return encoded;
}

}  // namespace

GrpcKind GrpcKindOf(const HttpCall& call) {
  const HttpRequest& request = call.request();
  absl::string_view type = request.Header("content-type");
  if (!absl::ConsumePrefix(&type, kGrpcType) || request.method != "POST") return GrpcKind::kNone;
  GrpcKind kind = call.takes_trailers() ? GrpcKind::kOwn : GrpcKind::kNone;
  if (absl::ConsumePrefix(&type, "-web")) {
    kind = absl::ConsumePrefix(&type, "-text") ? GrpcKind::kWebText : GrpcKind::kWeb;
  }
  return type.empty() || type[0] == '+' || type[0] == ';' ? kind : GrpcKind::kNone;
}

absl::StatusOr<CallDeadline> GrpcDeadline(absl::string_view timeout, int64_t now_ns,
                                          int64_t default_ns) {
  if (timeout.empty()) return DefaultDeadline(now_ns, default_ns);
  const absl::StatusOr<int64_t> end_ns = GrpcEnd(timeout, now_ns);
  if (!end_ns.ok()) return end_ns.status();
  if (*end_ns >= now_ns + kMaxTimeoutNs) return CallDeadline{now_ns + kMaxTimeoutNs, 0};
  const int64_t left_ns = *end_ns - now_ns;
  const bool is_rounded = UnitNs(timeout.back()) >= kNsPerMs;
  return CallDeadline{*end_ns - (is_rounded ? std::min(left_ns / 4, kNsPerMs) : 0), 0};
}

absl::StatusOr<int64_t> GrpcEnd(absl::string_view timeout, int64_t now_ns) {
  if (timeout.empty()) return kNoDeadlineNs;
  const absl::string_view digits = timeout.substr(0, timeout.size() - 1);
  const int64_t unit_ns = UnitNs(timeout.back());
  int64_t count = 0;
  const bool is_number = !digits.empty() && digits.size() <= kMaxTimeoutDigits &&
                         std::all_of(digits.begin(), digits.end(), absl::ascii_isdigit) &&
                         absl::SimpleAtoi(digits, &count);
  if (unit_ns == 0 || !is_number) {
    return absl::InvalidArgumentError("grpc-timeout must be digits and a unit");
  }
  if (count >= (kNoDeadlineNs - now_ns) / unit_ns) return kNoDeadlineNs;
  return now_ns + count * unit_ns;
}

absl::StatusOr<BodyCoding> GrpcCoding(HttpCall* call, bool allowed) {
  const HttpRequest& request = call->request();
  const absl::string_view name = request.Header(kEncoding);
  if (name.empty() || name == "identity") return BodyCoding::kPlain;
  const bool is_known = request.CountOf(kEncoding) == 1 && (name == "gzip" || name == "deflate");
  if (is_known && allowed) return name == "gzip" ? BodyCoding::kGzip : BodyCoding::kDeflate;
  call->AddHeaders(allowed ? "grpc-accept-encoding: identity, deflate, gzip\r\n"
                           : "grpc-accept-encoding: identity\r\n");
  return absl::UnimplementedError(
      absl::StrCat("grpc-encoding \"", name, is_known ? "\" is disabled" : "\" is unknown"));
}

BodyCoding AnswerCoding(const HttpRequest& request, BodyCoding coding) {
  for (const absl::string_view name : absl::StrSplit(request.Header(kAccepted), ',')) {
    if (absl::StripAsciiWhitespace(name) == NameOf(coding)) return coding;
  }
  return BodyCoding::kPlain;
}

absl::StatusOr<bool> IsCompressed(char flag, BodyCoding coding) {
  if (flag == kPlainFlag) return false;
  if (flag != kCompressedFlag) return absl::InternalError("a message has a flag without meaning");
  if (coding != BodyCoding::kPlain) return true;
  return absl::InternalError("a message is compressed, but the call has no grpc-encoding");
}

uint64_t GrpcLength(absl::string_view prefix) {
  uint64_t length = 0;
  for (const char c : prefix.substr(1, kGrpcPrefixBytes - 1)) {
    length = length << 8 | static_cast<unsigned char>(c);
  }
  return length;
}

absl::StatusOr<GrpcMessage> GrpcMessageOf(absl::string_view body, BodyCoding coding) {
  if (body.empty()) return absl::InvalidArgumentError("the call carries no request");
  if (body.size() < kGrpcPrefixBytes) return absl::InvalidArgumentError("the message is cut short");
  const absl::StatusOr<bool> is_compressed = IsCompressed(body[0], coding);
  if (!is_compressed.ok()) return is_compressed.status();
  const uint64_t length = GrpcLength(body);
  body.remove_prefix(kGrpcPrefixBytes);
  if (length != body.size()) {
    return absl::InvalidArgumentError("the body of the call is not one message");
  }
  return GrpcMessage{body, *is_compressed && !body.empty()};
}

size_t GrpcBodyBytes(absl::string_view first) {
  return first.size() < kGrpcPrefixBytes ? 0 : kGrpcPrefixBytes + GrpcLength(first);
}

std::string GrpcPrefix(char flag, size_t bytes) {
  std::string prefix = GrpcBody();
  PutPrefix(flag, bytes, &prefix);
  return prefix;
}

void EndGrpcMessage(std::string* body, size_t elsewhere) {
  PutPrefix(kPlainFlag, body->size() - kGrpcPrefixBytes + elsewhere, body);
}

HttpReply GrpcReply(std::string body, Splices splices) {
  EndGrpcMessage(&body, splices.bytes());
  HttpReply reply(200, kGrpcType, std::move(body));
  reply.splices = std::move(splices);
  reply.trailers = kOkLine;
  reply.tells_length = false;
  return reply;
}

void CompressReply(BodyCoding coding, HttpReply* reply) {
  std::string body = GrpcBody();
  const absl::string_view plain = absl::string_view(reply->body).substr(kGrpcPrefixBytes);
  if (!Deflate(FormOf(coding), plain, &body)) return;
  PutPrefix(kCompressedFlag, body.size() - kGrpcPrefixBytes, &body);
  reply->body = std::move(body);
  reply->AddHeader(kEncoding, NameOf(coding));
}

HttpReply GrpcError(const absl::Status& status, StatusStyle style) {
  const ToldStatus told = TellStatus(status, style);
  HttpReply reply(200, kGrpcType, "");
  reply.tells_length = false;
  reply.AddHeader("grpc-status", absl::StrCat(static_cast<int>(told.code)));
  reply.AddHeader("grpc-message", PercentEncoded(told.text));
  if (!told.details.empty()) {
    reply.AddHeader("grpc-status-details-bin", Unpadded(told.details));
  }
  return reply;
}

HttpReply GrpcLast(const absl::Status& status, StatusStyle style, bool has_parts) {
  HttpReply reply = GrpcError(status, style);
  if (status.ok()) reply.headers = kOkLine;
  if (has_parts) reply.headers.swap(reply.trailers);
  return reply;
}

}  // namespace mpsd
