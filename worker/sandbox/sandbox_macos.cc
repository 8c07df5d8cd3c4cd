#include "worker/sandbox/confinement.h"

namespace mpsd {

// macOS offers only deprecated or undocumented means for this, and nothing here has run on a Mac: a
// sandbox that nobody has seen deny anything would be worse than none.
absl::Status ConfineFiles(const SandboxOptions&) {
  return absl::UnimplementedError("there is no sandbox for workers on this platform");
}

}  // namespace mpsd
