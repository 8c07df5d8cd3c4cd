// CallFilter: which system calls a sealed process may still make, as a program for Linux's kernel.
//
// The filter lists denied calls. A list of allowed calls would be tighter, but would break with
// every release of a device driver. The program sees a call's number and arguments, but no memory
// behind them: a flag or a process's number, but no path. The first rule that denies decides:
//
//   another instruction set      the process is killed
//   a number beyond the table    ENOSYS, as from a kernel that does not have the call
//   a rule that is in force      EPERM; for clone3 ENOSYS: the C library falls back to clone
//   everything else              is allowed
//
// Landlock confines the files (worker/sandbox/allowed_files.h). docs/sandbox.md says what stays
// possible.
#pragma once

#include <linux/filter.h>
#include <sys/types.h>

#include <vector>

#include "proto/confine/own_rights.h"

namespace mpsd {

// SealCalls() installs it. Signals go only to `own_pid`. Empty for an unknown processor, whose
// calls are then not sealed. Pure.
std::vector<sock_filter> CallFilter(const DeniedCalls& denied, pid_t own_pid);

}  // namespace mpsd
