#include "worker/sandbox/confinement.h"

namespace mpsd {

// What macOS offers for this is deprecated or undocumented, and nothing here has run on a Mac: a
// sandbox that nobody has seen deny anything would be worse than none.
absl::Status ConfineFiles(const SandboxOptions&) {
  return absl::UnimplementedError("there is no sandbox for workers on this platform");
}

// The log has the line above already, and one is enough.
absl::Status SealCalls(const SandboxOptions&) { return absl::OkStatus(); }

}  // namespace mpsd
