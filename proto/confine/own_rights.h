// own_rights: how a process gives up rights of its own, for its whole life. own_rights_linux.cc and
// own_rights_macos.cc implement it side by side.
//
// For a worker and the device copier, which run code of others. An error says what the host cannot
// do; the caller decides whether that is good enough.
#pragma once

#include "absl/status/status.h"

namespace mpsd {

// SealCalls() always denies other programs and processes, signals to others, the network, mounts,
// namespaces and the host's settings. These come in addition.
struct DeniedCalls {
  bool new_sockets = false;  // Unix sockets too
  bool strict = false;       // also deny what a model on a device does not need; docs/sandbox.md
};

// Programs started later get no more rights, and a superuser keeps only the right to read files of
// other users. UNIMPLEMENTED on macOS.
absl::Status DropPrivileges();

// Covers every thread. On Linux, UNIMPLEMENTED for a processor without a filter, and the kernel's
// error without seccomp. On macOS it does nothing.
absl::Status SealCalls(const DeniedCalls& denied);

}  // namespace mpsd
