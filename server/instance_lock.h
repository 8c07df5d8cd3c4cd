// InstanceLock: lets at most one daemon use a state folder.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "proto/base/fd.h"

namespace mpsd {

// Held by main for the daemon's life. The kernel frees the lock when the process ends, even when it
// was killed. Thread-compatible.
class InstanceLock {
 public:
  // Makes the folder if it is missing; see MakePrivateFolder() for what it must be otherwise. No
  // file but the lock's own is opened or written: neither through a link nor under a second name.
  // ALREADY_EXISTS, with the process that holds the lock; any other error is for the operator.
  static absl::StatusOr<InstanceLock> Take(const std::string& state_dir);

 private:
  explicit InstanceLock(UniqueFd fd) : fd_(std::move(fd)) {}

  UniqueFd fd_;
};

}  // namespace mpsd
