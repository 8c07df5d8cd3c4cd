// AcceptGuard: keeps listeners alive when the process runs out of descriptors, and connections few.
#pragma once

#include "absl/status/status.h"
#include "server/listen/connection_limit.h"

namespace mpsd {

// gRPC 1.51 gives a listener up for good when accept4() fails for want of a descriptor: the daemon
// would take no connection ever after, though it had descriptors again. With the guard such a
// connection is taken with a descriptor that was kept back for it, and closed at once: its client
// learns that it must go elsewhere, and the listener goes on. Connections that are open stay.
//
// Thread-safe. Called once, before the first listener; until then a listener fails as it would.
absl::Status GuardAccept();

// From now on connections beyond the limit are closed as soon as they are accepted; null: there is
// no limit any more. `limit` lives until then. Where accept4() is not ours, nothing is limited.
// Thread-safe.
void LimitConnections(ConnectionLimit* limit);

}  // namespace mpsd
