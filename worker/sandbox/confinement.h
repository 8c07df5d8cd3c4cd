// What an operating system can take from a process: sandbox_linux.cc and sandbox_macos.cc implement
// it side by side. Called on the worker's main thread, each at most once. An error says what the
// host cannot do; as much as can be done is done even then.
#pragma once

#include "absl/status/status.h"
#include "worker/sandbox/sandbox.h"

namespace mpsd {

absl::Status ConfineFiles(const SandboxOptions& options);
absl::Status SealCalls(const SandboxOptions& options);

}  // namespace mpsd
