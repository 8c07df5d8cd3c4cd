// this_host: whether an address can be reached from this host alone.
#pragma once

#include "absl/strings/string_view.h"

namespace mpsd::client {

// Whether nobody outside this host can listen at this host name or address, written without a port
// and without brackets: "127.0.0.1", "::1", "localhost". So a token may go there without TLS. A
// name that only begins like an address of loopback may be anybody's. Pure.
bool StaysOnThisHost(absl::string_view host);

}  // namespace mpsd::client
