#include "server/door/front_page_reply.h"

#include <utility>

#include "absl/strings/match.h"
#include "proto/base/check.h"
#include "proto/control.pb.h"
#include "server/door/error_reply.h"

namespace mpsd {
namespace {

constexpr char kHtml[] = "text/html; charset=utf-8";

}  // namespace

HttpReply FrontPageReply(const StatusPage& page, const std::string& status) {
  control::v1::StatusReply parsed;
  MPSD_CHECK(parsed.ParseFromString(status));
  HttpReply reply(200, kHtml, page.PageOf(parsed));
  reply.headers = page.headers();
  return reply;
}

HttpReply FrontPageRefusal(const StatusPage& page, const HttpRequest& request,
                           const absl::Status& status, StatusStyle style) {
  HttpReply reply = ErrorReply(status, style);
  if (!absl::StrContains(request.Header("accept"), "text/html")) return reply;
  reply.content_type = kHtml;
  reply.body = page.RefusedPage(status.message());
  reply.headers += page.headers();
  return reply;
}

}  // namespace mpsd
