// confinement: what an operating system can take from a process. sandbox_linux.cc and
// sandbox_macos.cc implement it side by side.
//
// Both functions are called by Sandbox on the worker's main thread, ConfineFiles() first, each at
// most once. An error says what the host cannot do; the functions have then done the rest.
#pragma once

#include "absl/status/status.h"
#include "worker/sandbox/sandbox.h"

namespace mpsd {

absl::Status ConfineFiles(const SandboxOptions& options);
absl::Status SealCalls(const SandboxOptions& options);

}  // namespace mpsd
