// FrontPageReply: the answers to a request for the page at "/".
#pragma once

#include <string>

#include "absl/status/status.h"
#include "server/http/http_reply.h"
#include "server/http/http_request.h"
#include "server/page/status_page.h"
#include "server/wire/status_map.h"

namespace mpsd {

// The page with the state of a serialized StatusReply in it. Pure.
HttpReply FrontPageReply(const StatusPage& page, const std::string& status);

// The answer to a caller who may not see the state: to a browser the page without any state, since
// the page can ask for a token, which a browser's address line cannot; else ErrorReply(). The code
// is the same. Pure.
HttpReply FrontPageRefusal(const StatusPage& page, const HttpRequest& request,
                           const absl::Status& status, StatusStyle style);

}  // namespace mpsd
