// FrontPageReply: answers for the page at "/".
#pragma once

#include <string>

#include "absl/status/status.h"
#include "server/bodies/grpc/status_map.h"
#include "server/door/page/status_page.h"
#include "server/http/http_reply.h"
#include "server/http/http_request.h"

namespace mpsd {

// With the state of a serialized StatusReply. Pure.
HttpReply FrontPageReply(const StatusPage& page, const std::string& status);

// For a caller who may not see the state. A browser gets the page without it, since the page can
// ask for a token and an address line cannot. Others get ErrorReply(), with the same code. Pure.
HttpReply FrontPageRefusal(const StatusPage& page, const HttpRequest& request,
                           const absl::Status& status, StatusStyle style);

}  // namespace mpsd
