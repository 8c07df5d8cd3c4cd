// OpenListeningSockets: opens the HTTP server's listening sockets.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/base/fd.h"

namespace mpsd {

// A listening socket, non-blocking and not inherited by children.
struct ListeningSocket {
  UniqueFd fd;
  int family = 0;
  std::string address;  // as bound: "127.0.0.1:8000", "unix:/run/mpsd/http.sock"
};

// Binds all that `address` stands for: "localhost:8000" may be two. With port 0, all get the port
// that the first one got. A socket at the path of "unix:PATH" is replaced. UNAVAILABLE has the
// system's words. Blocks while a name is resolved. Thread-safe.
absl::StatusOr<std::vector<ListeningSocket>> OpenListeningSockets(const std::string& address);

// The same for a Unix socket that only this process's user and root can connect to, by its mode. No
// other user can connect before the mode is set.
absl::StatusOr<std::vector<ListeningSocket>> OpenControlSocket(const std::string& address);

// Accepts a connection: non-blocking, and not inherited by children. Invalid if none could be
// taken. `needs_descriptor` is set if the process has no descriptor for the next one, which goes on
// waiting: the caller looks again after a moment. Thread-safe.
UniqueFd AcceptConnection(int listener, bool* needs_descriptor);

}  // namespace mpsd
