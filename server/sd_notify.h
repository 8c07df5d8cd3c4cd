// ServiceNotifier: tells systemd how the daemon is doing, by its notification protocol.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/base/clock.h"

namespace mpsd {

// Each call sends one datagram to the socket that the service manager named. Without such a socket
// every call is OK and does nothing, so that the daemon runs the same by hand, under launchd and
// under systemd. Owned by the daemon. Errors are for the log and never stop the daemon.
// Thread-safe.
class ServiceNotifier {
 public:
  // Reads NOTIFY_SOCKET. Called once, before any thread is started.
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

  const std::string socket_;
};

}  // namespace mpsd
