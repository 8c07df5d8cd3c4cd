#include "proto/confine/own_rights.h"

namespace mpsd {

// macOS has only deprecated or undocumented means.
absl::Status DropPrivileges() {
  return absl::UnimplementedError("a process keeps its rights on this platform");
}

// DropPrivileges() has reported it.
absl::Status SealCalls(const DeniedCalls&) { return absl::OkStatus(); }

}  // namespace mpsd
