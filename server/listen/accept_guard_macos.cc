#include "server/listen/accept_guard.h"

namespace mpsd {

// Homebrew's gRPC waits a moment and tries again. This has not run on a Mac yet.
absl::Status GuardAccept() { return absl::OkStatus(); }

// macOS has no accept4() to replace.
void BoundConnections(const ConnectionBounds*) {}
void GuardConnection(int) {}

}  // namespace mpsd
