// confinement: what an operating system can take from a process. sandbox_linux.cc and
// sandbox_macos.cc implement it side by side.
//
// The seam of the sandbox: Sandbox decides when, and what a failure means at which level;
// ConfineFiles() and SealCalls() of proto/confine do as much as this host can. Both are called by
// Sandbox on the worker's main thread, ConfineFiles() first, each at most once, and not at all at
// the level off. An error says what the host cannot do, for the operator's log; the function has
// then done the rest, as far as one step does not need another. What it takes is gone for the life
// of the process.
//
//             ConfineFiles()                                     SealCalls()
//   Linux     DropPrivileges(), landlock (allowed_files.h);      a seccomp filter for all threads
//             strict: no core file and memory hidden from
//             others
//   macOS     basic: sandbox_init() with seatbelt_profile.h;     nothing: OK
//             strict: UNIMPLEMENTED
#pragma once

#include "absl/status/status.h"
#include "worker/sandbox/sandbox.h"

namespace mpsd {

// Leaves the process the files of AllowedFiles() and as few privileges as it can. On Linux the
// files of other threads are not confined, so FAILED_PRECONDITION when there are any.
absl::Status ConfineFiles(const SandboxOptions& options);

}  // namespace mpsd
