// InstanceLock: lets at most one daemon use a state folder.
//
// The folder has the daemon's default socket and its workers' temporary folders: two daemons would
// take each other's. So RunDaemon() first locks the file mpsd.lock there, in which the holder
// writes its process number and its version:
//
//   $ mpsd serve
//   mpsd: mpsd runs already: process 4711 holds /run/mpsd/mpsd.lock; end it, or give this one …
//
// The kernel keeps the lock, not the file: after a crash or a kill there is nothing to clean up,
// and a remaining file means nothing.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "proto/base/fd.h"

namespace mpsd {

// The lock, while the object lives. main takes it before it touches anything else in the folder,
// and holds it until all parts of the daemon are gone. Workers do not inherit it, so a worker that
// outlives the front end by a moment blocks no new daemon. Movable. Thread-compatible.
class InstanceLock {
 public:
  // Makes the folder if it is missing; MakePrivateFolder() says what it must otherwise be. Opens or
  // writes only the lock's own file, neither through a link nor under a second name. Does not wait
  // for another holder. ALREADY_EXISTS names the process with the lock; other errors have the path,
  // and are for the operator.
  static absl::StatusOr<InstanceLock> Take(const std::string& state_dir);

  // The lock of a daemon that hands over, by its descriptor. Both hold the lock until it ends.
  static InstanceLock Adopt(UniqueFd fd) { return InstanceLock(std::move(fd)); }

  // Writes this process's number and version into the file. Take() has done so.
  absl::Status NameHolder() const;

  struct Holder {
    pid_t pid = 0;
    std::string version;  // empty: the daemon is too old to say it
  };

  // The daemon that holds the lock of the folder. NOT_FOUND if none does; other errors say why the
  // file cannot be read. Never returns the number of another process that has got it since.
  static absl::StatusOr<Holder> HolderOf(const std::string& state_dir);

  int fd() const { return fd_.get(); }

 private:
  explicit InstanceLock(UniqueFd fd) : fd_(std::move(fd)) {}

  UniqueFd fd_;
};

}  // namespace mpsd
