// AcceptGuard: what the process does to each connection it accepts: sheds it when descriptors run
// out, and closes it beyond the limit.
#pragma once

#include "absl/status/status.h"
#include "server/listen/connection_limit.h"

namespace mpsd {

// Opens a spare descriptor for the moment when the process has no other. gRPC 1.51 gives a listener
// up for good when accept4() fails for want of a descriptor, even if descriptors come free later.
// With the guard, accept4() takes such a connection with the spare descriptor and closes it at
// once: the client learns that it must go elsewhere, and the listener goes on. Open connections
// stay open.
//
// Called once, before the first listener. Fails when no descriptor can be kept back. Does nothing
// on macOS. Thread-safe.
absl::Status GuardAccept();

// From now on a connection is closed at once unless `limit` admits it. Null ends the limit; the
// caller keeps `limit` alive until it has passed null. Does nothing on macOS. Thread-safe.
void LimitConnections(ConnectionLimit* limit);

}  // namespace mpsd
