// CallFilter: which system calls a sealed worker may still make, as a program for the kernel.
//
// The filter lists the denied calls. A list of allowed calls would be tighter, but would break with
// every release of a device driver; docs/sandbox.md says what this leaves open.
#pragma once

#include <linux/filter.h>
#include <sys/types.h>

#include <vector>

#include "worker/sandbox/sandbox.h"

namespace mpsd {

// The program for a level and a device. `own_pid` is the only process that the worker may send
// signals to. Calls of another instruction set kill the process; calls newer than this file do not
// exist for the worker (ENOSYS); denied calls fail with EPERM. Empty for a processor that this file
// does not know. Pure.
std::vector<sock_filter> CallFilter(const SandboxOptions& options, pid_t own_pid);

}  // namespace mpsd
