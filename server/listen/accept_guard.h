// AcceptGuard: what the process does to each connection it accepts: counts it, sheds it when there
// are too many, and bounds how much is read of it at a time.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "proto/base/fd.h"
#include "server/listen/connection_table.h"
#include "server/listen/frame_meter.h"
#include "server/telemetry/log/log.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

// What a server allows its connections, and where it tells what it did to them. A value.
struct ConnectionBounds {
  uint32_t connections = 0;  // that are open
  uint32_t of_listener = 0;  // at one listener, see ConnectionShares
  FrameBounds frames;        // of each
  ServerMetrics* metrics = nullptr;
  Logger* logger = nullptr;
};

// The guard replaces accept4(), epoll_ctl(), recvmsg() and close() in the whole process, since gRPC
// 1.51 gives no other hold on its sockets. They do what they always do, and besides:
//
// - accept4() enters each connection into the ConnectionTable, close() takes it out again.
// - A connection that finds no room (ConnectionShares) is closed at once. A burst of them is closed
//   piece by piece, between other work of the thread.
// - A spare descriptor is kept for the moment when the process has no other. gRPC gives a listener
//   up for good when accept4() fails for want of a descriptor, even if descriptors come free later.
//   accept4() instead takes such a connection with the spare descriptor and closes it at once: the
//   client learns that it must go elsewhere, and the listener goes on.
// - recvmsg() ends a ReadRound in time, and cuts a connection whose FrameMeter says that it floods.
//
// In the life of a process:
//
//   GuardAccept() ─▶ BoundConnections(&bounds) ─▶ listeners serve ─▶ BoundConnections(nullptr)
//
// Sockets that were not accepted this way are left alone. Does nothing on macOS, where
// gRPC is new enough to hold a bound for each listener.

// Accepts a connection for a listener of ours, which guards its own number of connections: not
// blocking, and no child inherits it. The connection is in the table, and does not count against
// the bound. Invalid when none could be taken; `needs_descriptor` is set when the process has no
// descriptor for the next one, which goes on waiting: the caller looks again after a moment.
// Thread-safe.
UniqueFd AcceptConnection(int listener, bool* needs_descriptor);

// Called before the first listener. Fails when no descriptor can be kept back. Thread-safe.
absl::Status GuardAccept();

// The bounds of all connections from now on; null ends them. The caller keeps `bounds` and its
// referents until it has passed null. Thread-safe.
void BoundConnections(const ConnectionBounds* bounds);

// A connection was shut down because its client floods: tells of it, unless it has told before.
// Thread-safe.
void TellOfFlood(ConnectionPlace* place, Flood flood);

// Enters a connection of the server that was not accepted with accept4(). It is guarded like the
// others, but does not count against the bound. Thread-safe.
void GuardConnection(int connection);

}  // namespace mpsd
