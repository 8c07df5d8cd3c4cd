// AcceptGuard: counts each accepted connection, sheds it if there are too many, and bounds how much
// is read from it at a time.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "proto/base/fd.h"
#include "server/listen/connection_table.h"
#include "server/listen/frame_meter.h"
#include "server/telemetry/log/log.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

// A server's bounds for its connections, and where it reports. A value.
struct ConnectionBounds {
  uint32_t connections = 0;  // limit of open connections
  uint32_t of_listener = 0;  // limit at one listener, see ConnectionShares
  FrameBounds frames;        // for each connection
  ServerMetrics* metrics = nullptr;
  Logger* logger = nullptr;
};

// The guard replaces accept4(), epoll_ctl(), recvmsg() and close() in the whole process, since gRPC
// 1.51 gives no other access to its sockets. They do what they always do, and also:
//
// - accept4() enters each connection into the ConnectionTable, close() takes it out again.
// - A connection without room (ConnectionShares) is closed at once. A burst is closed piece by
//   piece, between other work of the thread.
// - A spare descriptor is kept for the moment when the process has no other. gRPC gives a listener
//   up for good if accept4() fails for lack of a descriptor, even if some come free later. Instead,
//   accept4() takes such a connection with the spare descriptor and closes it at once. The client
//   goes elsewhere, and the listener goes on.
// - recvmsg() ends a ReadRound in time, and cuts a connection whose FrameMeter reports a flood.
//
// In the life of a process:
//
//   GuardAccept() ─▶ BoundConnections(&bounds) ─▶ listeners serve ─▶ BoundConnections(nullptr)
//
// Other sockets are left alone. Does nothing on macOS, where gRPC is new enough to bound each
// listener.

// Accepts a connection for a listener of mpsd, which limits its own number of connections. The
// descriptor is non-blocking and not inherited by children. The connection is in the table, and
// does not count against the bound. Invalid if none could be taken. `needs_descriptor` is set if
// the process has no descriptor for the next one, which goes on waiting: the caller looks again
// after a moment. Thread-safe.
UniqueFd AcceptConnection(int listener, bool* needs_descriptor);

// Called before the first listener. Fails if no spare descriptor can be had. Thread-safe.
absl::Status GuardAccept();

// The bounds of all connections from now on; null ends them. The caller keeps `bounds` and its
// referents until it has passed null. Thread-safe.
void BoundConnections(const ConnectionBounds* bounds);

// A connection was shut down because its client floods: reports it once. Thread-safe.
void TellOfFlood(ConnectionPlace* place, Flood flood);

// Enters a connection that accept4() did not accept. It is guarded like the others, but does not
// count against the bound. Thread-safe.
void GuardConnection(int connection);

}  // namespace mpsd
