// OpenListeningSockets: the sockets that the HTTP server listens on.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/base/fd.h"

namespace mpsd {

// One socket that listens. Not blocking, and no child inherits it.
struct ListeningSocket {
  UniqueFd fd;
  int family = 0;
  std::string address;  // as it was bound: "127.0.0.1:8000", "unix:/run/mpsd/http.sock"
};

// Binds all that `address` stands for: "localhost:8000" may be two. Of several for port 0 all get
// the port that the first one got. A socket that lies at the path of "unix:PATH" is replaced.
// UNAVAILABLE has the system's words. Blocks while a name is resolved. Thread-safe.
absl::StatusOr<std::vector<ListeningSocket>> OpenListeningSockets(const std::string& address);

}  // namespace mpsd
