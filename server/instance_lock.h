// InstanceLock: at most one daemon a state folder.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "proto/base/fd.h"

namespace mpsd {

// Thread-compatible. Held for the daemon's life; the kernel lets it go when the process ends,
// however it ends.
class InstanceLock {
 public:
  // Makes the folder if need be. ALREADY_EXISTS naming who holds it.
  static absl::StatusOr<InstanceLock> Take(const std::string& state_dir);

 private:
  explicit InstanceLock(UniqueFd fd) : fd_(std::move(fd)) {}

  UniqueFd fd_;
};

}  // namespace mpsd
