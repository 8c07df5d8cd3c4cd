// ReplyStatus: what an HTTP server's refusal means.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace mpsd::client {

// OK for 2xx. Otherwise mpsd's status for the code (docs/http.md), with the server's text if the
// body has one of these forms:
//
//   {"error": TEXT}   {"error": {"message": TEXT}}   {"message": TEXT}
//
// Pure.
absl::Status ReplyStatus(unsigned code, absl::string_view body);

}  // namespace mpsd::client
