// CallFilter: which system calls a sealed worker may still make, as a program for the kernel.
//
// It is a list of what is denied. A list of what is allowed would be tighter, and would break with
// every release of a device driver; docs/sandbox.md says what this leaves open.
#pragma once

#include <linux/filter.h>
#include <sys/types.h>

#include <vector>

#include "worker/sandbox/sandbox.h"

namespace mpsd {

// Pure. Calls of another instruction set kill the process; newer calls than this file knows do not
// exist (ENOSYS); what is denied fails with EPERM. Empty on a processor that it does not know.
std::vector<sock_filter> CallFilter(SandboxLevel level, pid_t own_pid);

}  // namespace mpsd
