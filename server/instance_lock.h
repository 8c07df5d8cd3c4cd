// InstanceLock: lets at most one daemon use a state folder.
//
// The folder has the daemon's default socket and the temporary folders of its workers: two daemons
// would take each other's. So RunDaemon() first takes a lock on the file mpsd.lock in it, in which
// the holder writes the number of its process:
//
//   $ mpsd serve
//   mpsd: mpsd runs already: process 4711 holds /run/mpsd/mpsd.lock; end it, or give this one …
//
// The kernel keeps the lock, not the file: after a crash or a kill there is nothing to clean up,
// and the file that is left means nothing.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "proto/base/fd.h"

namespace mpsd {

// The lock, as long as the object lives. Taken by main before anything else in the folder is
// touched, and held until all parts of the daemon are gone. Workers do not inherit it: a worker
// that outlives the front end by a moment keeps no new daemon from starting. Movable.
// Thread-compatible.
class InstanceLock {
 public:
  // Makes the folder if it is missing; see MakePrivateFolder() for what it must be otherwise. No
  // file but the lock's own is opened or written: neither through a link nor under a second name.
  // Does not wait for another holder. ALREADY_EXISTS, with the process that holds the lock; any
  // other error has the path, and is for the operator.
  static absl::StatusOr<InstanceLock> Take(const std::string& state_dir);

 private:
  explicit InstanceLock(UniqueFd fd) : fd_(std::move(fd)) {}

  UniqueFd fd_;
};

}  // namespace mpsd
