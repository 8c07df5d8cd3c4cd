// ReplyStatus: what an HTTP server's refusal means.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace mpsd::client {

// OK for a code of 2xx. Else the status that mpsd has for the code (docs/http.md), with the
// server's own text, where the body has one in a form that servers of models use:
//
//   {"error": TEXT}   {"error": {"message": TEXT}}   {"message": TEXT}
//
// and with the code alone otherwise, as a proxy answers. Pure.
absl::Status ReplyStatus(unsigned code, absl::string_view body);

}  // namespace mpsd::client
