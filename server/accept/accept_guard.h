// AcceptGuard: keeps listeners alive when the process runs out of descriptors.
#pragma once

#include "absl/status/status.h"

namespace mpsd {

// gRPC 1.51 gives a listener up for good when accept4() fails for want of a descriptor: the daemon
// would take no connection ever after, though it had descriptors again. With the guard such a
// connection is taken with a descriptor that was kept back for it, and closed at once: its client
// learns that it must go elsewhere, and the listener goes on. Connections that are open stay.
//
// Thread-safe. Called once, before the first listener; until then a listener fails as it would.
absl::Status GuardAccept();

}  // namespace mpsd
