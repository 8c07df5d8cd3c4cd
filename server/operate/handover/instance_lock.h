// InstanceLock: lets at most one daemon use a state folder.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "proto/base/fd.h"

namespace mpsd {

// Two daemons would take each other's socket and workers' folders. So RunDaemon() locks the file
// mpsd.lock there first, and holds it until all its parts are gone. The file has the holder's
// number and version. The kernel keeps the lock: a remaining file means nothing. Workers do not
// inherit it. Movable. Thread-compatible.
class InstanceLock {
 public:
  // Makes the folder if it is missing; otherwise MakePrivateFolder() says what it must be. Writes
  // only the lock's file, neither through a link nor under a second name. Does not wait.
  // ALREADY_EXISTS names the holder; other errors have the path, and are for the operator.
  static absl::StatusOr<InstanceLock> Take(const std::string& state_dir);

  // The lock of a daemon that hands over: both hold the lock until it ends.
  static InstanceLock Adopt(UniqueFd fd) { return InstanceLock(std::move(fd)); }

  // As Take() has done.
  absl::Status NameHolder() const;

  struct Holder {
    pid_t pid = 0;
    std::string version;  // empty: the daemon is too old to say it
  };

  // NOT_FOUND if no daemon holds it; other errors say why the file cannot be read. Never another
  // process's number.
  static absl::StatusOr<Holder> HolderOf(const std::string& state_dir);

  int fd() const { return fd_.get(); }

 private:
  explicit InstanceLock(UniqueFd fd) : fd_(std::move(fd)) {}

  UniqueFd fd_;
};

}  // namespace mpsd
