// own_rights: what a process can give up of its own rights, whatever it runs. own_rights_linux.cc
// and own_rights_macos.cc implement it side by side.
//
// For the processes that run what others wrote: a worker its model (worker/sandbox), the device
// copier its driver (copier/main.cc). What is given up is gone for the life of the process. An
// error says what the host cannot do, for the operator; the caller decides whether that is good
// enough.
#pragma once

#include "absl/status/status.h"

namespace mpsd {

// What SealCalls() denies beside the calls that nobody here needs: other programs and processes,
// signals to others, the network, mounts, namespaces and the host's settings.
struct DeniedCalls {
  bool new_sockets = false;  // Unix sockets too
  bool strict = false;       // also what a model on a device gets along without; docs/sandbox.md
};

// No program that is started later gets more rights than this process has, and a superuser keeps
// only the right to read files of other users. On macOS UNIMPLEMENTED.
absl::Status DropPrivileges();

// Denies the system calls in every thread. On Linux UNIMPLEMENTED for a processor without a filter,
// and the kernel's error where it has no seccomp; on macOS it does nothing.
absl::Status SealCalls(const DeniedCalls& denied);

}  // namespace mpsd
