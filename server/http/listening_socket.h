// OpenListeningSockets: the HTTP server's listening sockets.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/base/fd.h"

namespace mpsd {

// Non-blocking, and not inherited by children.
struct ListeningSocket {
  UniqueFd fd;
  int family = 0;
  std::string address;  // as bound: "127.0.0.1:8000", "unix:/run/mpsd/http.sock"
};

// "localhost:8000" may be two sockets. With port 0 all get the first one's port. A socket at the
// path of "unix:PATH" is replaced. UNAVAILABLE has the system's words. Blocks while a name is
// resolved. Thread-safe.
absl::StatusOr<std::vector<ListeningSocket>> OpenListeningSockets(const std::string& address);

// A Unix socket that only this process's user and root can ever connect to, by its mode.
absl::StatusOr<std::vector<ListeningSocket>> OpenControlSocket(const std::string& address);

// Non-blocking, and not inherited by children; invalid if none could be taken. `needs_descriptor`:
// the process has no descriptor for the next one, so the caller looks again after a moment.
// Thread-safe.
UniqueFd AcceptConnection(int listener, bool* needs_descriptor);

}  // namespace mpsd
