// ServiceNotifier: tells systemd how the daemon is doing, by its notification protocol.
//
// A unit of type notify counts as started when its process says READY, so that what depends on the
// daemon waits for its models; between RELOADING and the next READY it is shown as reloading:
//
//   start ─▶ Ready() ─▶ Reloading() ─▶ Ready() ─▶ … ─▶ Stopping() ─▶ exit
//
// The protocol is one datagram of lines for each call, written here by hand: a library for it would
// be a dependency of the daemon for forty lines.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/base/clock.h"

namespace mpsd {

// Each call sends one datagram to the socket that the service manager named. Without such a socket
// every call is OK and does nothing, so that the daemon runs the same by hand, under launchd and
// under systemd. Called on main and on the thread `reloader`, never on a request's path; a service
// manager that does not read its socket blocks a call for a second at most. Owned by the daemon. An
// error says what failed and changes nothing; the daemon goes on. Thread-safe: constant after
// construction.
class ServiceNotifier {
 public:
  // Reads NOTIFY_SOCKET. Workers and the device copier do not get that variable: only the daemon
  // speaks for the unit.
  static ServiceNotifier FromEnvironment();

  // `socket` is a path, or an abstract name when it begins with '@'; empty: no service manager.
  explicit ServiceNotifier(std::string socket) : socket_(std::move(socket)) {}

  // Every model is settled, or the reload that Reloading() announced is over. `status` is one line
  // for `systemctl status`: line breaks in it become blanks. So it is in Stopping().
  absl::Status Ready(absl::string_view status) const;

  // A reload has begun; Ready() ends it. `clock` is the host's monotonic one.
  absl::Status Reloading(const Clock& clock) const;

  // The daemon drains and will exit.
  absl::Status Stopping(absl::string_view status) const;

 private:
  absl::Status Send(absl::string_view message) const;

  const std::string socket_;  // empty: there is no service manager
};

}  // namespace mpsd
