// own_rights: how a process gives up rights of its own. own_rights_linux.cc and own_rights_macos.cc
// implement it side by side.
//
// For the processes that run code of others: a worker its model (worker/sandbox), the device copier
// its driver (copier/main.cc). A right is given up for the life of the process. An error tells the
// operator what the host cannot do; the caller decides whether that is good enough.
#pragma once

#include "absl/status/status.h"

namespace mpsd {

// Further calls for SealCalls() to deny. It always denies other programs and processes, signals to
// others, the network, mounts, namespaces and the host's settings.
struct DeniedCalls {
  bool new_sockets = false;  // Unix sockets too
  bool strict = false;       // also deny what a model on a device does not need; docs/sandbox.md
};

// Programs started later get no more rights than this process, and a superuser keeps only the right
// to read files of other users. On macOS UNIMPLEMENTED.
absl::Status DropPrivileges();

// Denies the system calls in every thread. On Linux, UNIMPLEMENTED for a processor without a
// filter, and the kernel's error if it has no seccomp. On macOS it does nothing.
absl::Status SealCalls(const DeniedCalls& denied);

}  // namespace mpsd
