// CallFilter: which system calls a sealed process may still make, as a program for the kernel.
//
// The filter lists the denied calls. A list of allowed calls would be tighter, but would break with
// every release of a device driver; docs/sandbox.md says what this leaves open.
//
// The kernel runs the program at every system call of every thread, with the call's number and
// arguments. The program sees arguments but no memory behind them: a rule can look at a flag or a
// process's number, and not at a path. Rules are tried in the order of the table, and the first
// that denies decides:
//
//   another instruction set      the process is killed
//   a number beyond the table    ENOSYS, as from a kernel that does not have the call
//   a rule that is in force      EPERM; for clone3 ENOSYS: the C library falls back to clone
//   everything else              is allowed
//
// Linux only. A worker's files are confined by landlock (worker/sandbox/allowed_files.h); the
// filter denies what landlock does not control.
#pragma once

#include <linux/filter.h>
#include <sys/types.h>

#include <vector>

#include "proto/confine/own_rights.h"

namespace mpsd {

// The program. `own_pid` is the only process that the process may send signals to. Calls of another
// instruction set kill the process; calls newer than this file do not exist for it (ENOSYS); denied
// calls fail with EPERM. Installed by SealCalls() for good. Empty for a processor that this file
// does not know: the caller must then count the calls as not sealed. Pure.
std::vector<sock_filter> CallFilter(const DeniedCalls& denied, pid_t own_pid);

}  // namespace mpsd
