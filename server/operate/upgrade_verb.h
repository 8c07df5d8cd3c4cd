// upgrade_verb: the verb `upgrade`. This host's daemon hands over to the installed program.
//
// It finds the daemon by the lock of its state folder, sends SIGUSR2 and waits for the outcome
// (server/operate/handover). It works whatever the rules of access say, for the daemon's user and
// root.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace mpsd {

// Exit code: the daemon cannot hand over, and a restart takes the new version.
inline constexpr int kExitNeedsRestart = 70;

// The options as they stand on the command line; server/main.cc fills them.
struct UpgradeOptions {
  std::string config;  // empty: as `mpsd serve` finds one
};

// Folders in which the daemon's lock may be. Without a folder in the config these are `own`, which
// a daemon of this user would take, and the folder of systemd's unit. Pure.
std::vector<std::string> StateFolders(const std::string& of_config, const std::string& own);

// Blocks until the new daemon serves or the handover has failed. The old daemon may still answer
// its last requests then. Writes both versions to `out`. Called by main.
//
// The errors stand in server/operate/handover/handover_outcome.h, and their text says that the old
// daemon serves on. There are more:
//   ABORTED               another `mpsd upgrade` waits for the daemon
//   FAILED_PRECONDITION   the daemon is too old to hand over, or the first process of a container
//   NOT_FOUND             no daemon runs, or it has ended meanwhile
//   PERMISSION_DENIED     a file cannot be read, or the daemon is another user's
absl::Status RunUpgrade(const UpgradeOptions& options, std::ostream& out);

}  // namespace mpsd
