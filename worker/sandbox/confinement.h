// confinement: the rights that an operating system can take from a process, for its whole life.
// sandbox_linux.cc and sandbox_macos.cc implement it side by side.
//
// ConfineFiles(), and SealCalls() of proto/confine, do as much as this host can. Both run on the
// main thread, in this order, at most once. An error says what the host cannot do; all steps that
// do not need the failed one are done.
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

// Leaves the process AllowedFiles() and the fewest privileges. FAILED_PRECONDITION if other threads
// run: Linux would not confine their files.
absl::Status ConfineFiles(const SandboxOptions& options);

}  // namespace mpsd
