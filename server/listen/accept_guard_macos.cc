#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>

#include "server/listen/accept_guard.h"

namespace mpsd {

// Homebrew's gRPC waits a moment and tries again. This has not run on a Mac yet.
absl::Status GuardAccept() { return absl::OkStatus(); }

// macOS has no accept4() to replace. There gRPC itself bounds each listener
// (server/accept/grpc_server.cc).
void BoundConnections(const ConnectionBounds*) {}
void GuardConnection(int) {}
void TellOfFlood(ConnectionPlace*, Flood) {}

UniqueFd AcceptConnection(int listener, bool* needs_descriptor) {
  UniqueFd fd(accept(listener, nullptr, nullptr));
  *needs_descriptor = !fd.valid() && (errno == EMFILE || errno == ENFILE);
  if (!fd.valid()) return fd;
  const int on = 1;
  setsockopt(fd.get(), SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof(on));
  fcntl(fd.get(), F_SETFL, fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
  fcntl(fd.get(), F_SETFD, FD_CLOEXEC);
  return fd;
}

}  // namespace mpsd
