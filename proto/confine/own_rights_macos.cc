#include "proto/confine/own_rights.h"

namespace mpsd {

// macOS offers only deprecated or undocumented means for this.
absl::Status DropPrivileges() {
  return absl::UnimplementedError("a process keeps its rights on this platform");
}

// DropPrivileges() has already reported it.
absl::Status SealCalls(const DeniedCalls&) { return absl::OkStatus(); }

}  // namespace mpsd
