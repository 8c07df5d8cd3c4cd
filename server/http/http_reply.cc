#include "server/http/http_reply.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/base/check.h"

namespace mpsd {
namespace {

constexpr absl::string_view kLineBreaks = "\r\n";

bool IsOneLine(absl::string_view text) {
  return !absl::StrContains(text, '\r') && !absl::StrContains(text, '\n');
}

absl::string_view ConnectionLine(HttpNext next) {
  switch (next) {
    case HttpNext::kClose:
      return "Connection: close\r\n";
    case HttpNext::kKeepAliveOf10:
      return "Connection: keep-alive\r\n";
    case HttpNext::kKeepAlive:
      break;
  }
  return "";
}

}  // namespace

void HttpReply::AddHeader(absl::string_view name, absl::string_view value) {
  MPSD_CHECK(IsOneLine(name) && IsOneLine(value));
  absl::StrAppend(&headers, name, ": ", value, kLineBreaks);
}

std::string HeadOf(const HttpReply& reply, HttpNext next) {
  return absl::StrCat("HTTP/1.1 ", reply.status, " ", ReasonOf(reply.status),
                      "\r\nContent-Type: ", reply.content_type,
                      "\r\nContent-Length: ", reply.body_bytes(), "\r\n", reply.headers,
                      ConnectionLine(next), kLineBreaks);
}

std::string HeadOfParts(const HttpReply& first, HttpNext next, bool is_10) {
  return absl::StrCat("HTTP/1.1 ", first.status, " ", ReasonOf(first.status),
                      "\r\nContent-Type: ", first.content_type,
                      is_10 ? "\r\n" : "\r\nTransfer-Encoding: chunked\r\n", first.headers,
                      ConnectionLine(next), kLineBreaks);
}

void PutChunk(bool is_last, std::string* head, std::string* body) {
  if (!body->empty()) {
    absl::StrAppend(head, absl::Hex(body->size()), kLineBreaks);
    body->append(kLineBreaks.data(), kLineBreaks.size());
  }
  if (is_last) body->append("0\r\n\r\n");
}

absl::string_view ReasonOf(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 422:
      return "Unprocessable Content";
    case 424:
      return "Failed Dependency";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 499:
      return "Client Closed Request";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Internal Server Error";
  }
}

}  // namespace mpsd
