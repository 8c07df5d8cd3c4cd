// ServiceNotifier: reports the daemon's state to systemd.
//
//   start ─▶ Ready() ─▶ Reloading() ─▶ Ready() ─▶ … ─▶ Stopping() ─▶ exit
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/base/clock.h"

namespace mpsd {

// Each call sends one datagram, written by hand: a library would be a dependency for forty lines.
// Without a service manager every call is OK and does nothing. A full socket blocks a call for a
// second at most. Called on main and the thread `reloader`. Owned by the daemon. An error says what
// failed, and the daemon goes on. Thread-safe: constant after construction.
class ServiceNotifier {
 public:
  // Reads NOTIFY_SOCKET, which workers and the device copier do not get: only the daemon speaks for
  // the unit.
  static ServiceNotifier FromEnvironment();

  // A path, or an abstract name with a leading '@'; empty: no service manager.
  explicit ServiceNotifier(std::string socket) : socket_(std::move(socket)) {}

  // Every model is settled, or the reload is over. `status` is a line for `systemctl status`: line
  // breaks become blanks, also in Stopping().
  absl::Status Ready(absl::string_view status) const;

  // Ready() ends it. `clock` is the host's monotonic one.
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
