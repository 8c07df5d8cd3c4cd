// ServiceNotifier: reports the daemon's state to systemd, by its notification protocol.
//
// A unit of type notify counts as started when its process says READY, so that dependent units wait
// for the models. Between RELOADING and the next READY it shows as reloading:
//
//   start ─▶ Ready() ─▶ Reloading() ─▶ Ready() ─▶ … ─▶ Stopping() ─▶ exit
//
// The protocol is one datagram of lines for each call, written here by hand: a library would be a
// dependency for forty lines.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/base/clock.h"

namespace mpsd {

// Each call sends one datagram to the service manager's socket. Without such a socket every call is
// OK and does nothing, so that the daemon runs the same by hand, under launchd and under systemd.
// Called on main and on the thread `reloader`, never on a request's path. A service manager that
// does not read its socket blocks a call for at most a second. Owned by the daemon. An error says
// what failed, and the daemon goes on. Thread-safe: constant after construction.
class ServiceNotifier {
 public:
  // Reads NOTIFY_SOCKET. Workers and the device copier do not get that variable: only the daemon
  // speaks for the unit.
  static ServiceNotifier FromEnvironment();

  // `socket` is a path, or an abstract name with a leading '@'; empty: no service manager.
  explicit ServiceNotifier(std::string socket) : socket_(std::move(socket)) {}

  // Every model is settled, or the reload announced by Reloading() is over. `status` is one line
  // for `systemctl status`: line breaks become blanks, also in Stopping().
  absl::Status Ready(absl::string_view status) const;

  // A reload has begun; Ready() ends it. `clock` is the host's monotonic one.
  absl::Status Reloading(const Clock& clock) const;

  // Another process speaks for the unit from now on.
  absl::Status HandedOver(int64_t pid) const;

  // The daemon drains and will exit.
  absl::Status Stopping(absl::string_view status) const;

 private:
  absl::Status Send(absl::string_view message) const;

  const std::string socket_;  // empty: no service manager
};

}  // namespace mpsd
