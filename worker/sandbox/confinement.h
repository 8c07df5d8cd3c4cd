// confinement: the rights that an operating system can take from a process. sandbox_linux.cc and
// sandbox_macos.cc implement it side by side.
//
// Sandbox decides when to confine, and what a failure means at which level. ConfineFiles(), and
// SealCalls() of proto/confine, do as much as this host can. Sandbox calls both on the worker's
// main thread, ConfineFiles() first, each at most once, and neither at the level off. An error says
// what the host cannot do, for the operator's log. The function has then done the rest, except
// steps that need the failed one. Rights are taken for the life of the process.
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

// Leaves the process the files of AllowedFiles() and as few privileges as possible.
// FAILED_PRECONDITION if other threads run, because on Linux their files are not confined.
absl::Status ConfineFiles(const SandboxOptions& options);

}  // namespace mpsd
