// CallFilter: which system calls a sealed process may still make, as a program for the kernel.
//
// The filter lists the denied calls. A list of allowed calls would be tighter, but would break with
// every release of a device driver; docs/sandbox.md says what stays possible.
//
// The kernel runs the program at every system call of every thread. The program sees the call's
// number and arguments, but no memory behind them. A rule can look at a flag or a process's number,
// but not at a path. Rules are tried in the order of the table, and the first that denies decides:
//
//   another instruction set      the process is killed
//   a number beyond the table    ENOSYS, as from a kernel that does not have the call
//
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

// Builds the program, which SealCalls() installs for good. The process may send signals only to
// `own_pid`. Calls of another instruction set kill the process. Calls newer than this file fail
// with ENOSYS, denied calls with EPERM. Empty for an unknown processor: the calls are then not
// sealed. Pure.
std::vector<sock_filter> CallFilter(const DeniedCalls& denied, pid_t own_pid);

}  // namespace mpsd
