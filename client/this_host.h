// this_host: whether an address can be reached from this host alone.
#pragma once

#include "absl/strings/string_view.h"

namespace mpsd::client {

// Whether only this host can listen at this name or address: "127.0.0.1", "::1", "localhost",
// without port and brackets. Then a token may go there without TLS. Pure.
bool StaysOnThisHost(absl::string_view host);

}  // namespace mpsd::client
