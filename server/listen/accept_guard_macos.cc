#include "server/listen/accept_guard.h"

namespace mpsd {

// Homebrew's gRPC waits a moment and tries again by itself. Not yet run on a Mac.
absl::Status GuardAccept() { return absl::OkStatus(); }

// There is no way into its accepting.
void LimitConnections(ConnectionLimit*) {}

}  // namespace mpsd
