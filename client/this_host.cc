#include "client/this_host.h"

#include "absl/strings/match.h"

namespace mpsd::client {

bool StaysOnThisHost(absl::string_view host) {
  if (host == "localhost" || host == "::1") return true;
  return absl::StartsWith(host, "127.") &&
         host.find_first_not_of("0123456789.") == absl::string_view::npos;
}

}  // namespace mpsd::client
