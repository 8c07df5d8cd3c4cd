// upgrade_verb: this host's daemon hands over to the installed program.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace mpsd {

// The daemon cannot hand over; a restart takes the new version.
inline constexpr int kExitNeedsRestart = 70;

struct UpgradeOptions {
  std::string config;  // empty: as `mpsd serve` finds one
};

// Where the daemon's lock may be: the config's folder, else `own`, which a daemon of this user
// would take, and systemd's. Pure.
std::vector<std::string> StateFolders(const std::string& of_config, const std::string& own);

// Finds the daemon by its lock, sends SIGUSR2 and blocks until the handover has ended; the old
// daemon may still answer its last requests. Works for the daemon's user and root, whatever the
// rules of access say. Called by main. handover_outcome.h has its errors, and there are:
//   ABORTED               another `mpsd upgrade` waits for the daemon
//   FAILED_PRECONDITION   the daemon is too old to hand over, or the first process of a container
//   NOT_FOUND             no daemon runs, or it has ended meanwhile
//   PERMISSION_DENIED     a file cannot be read, or the daemon is another user's
absl::Status RunUpgrade(const UpgradeOptions& options, std::ostream& out);

}  // namespace mpsd
