// ExitCode: the exit codes of the client verbs, after sysexits.h.
//
// Scripts branch on them, so a code never changes its meaning. With every code except kExitOk,
// stderr says why, and stdout has no report. The exceptions: `infer` prints its answer before
// kExitCannotWrite, stdout may have taken a part of a report, and `bench` and `tune` print
// measurements before kExitServerError.
#pragma once

namespace mpsd::cli {

// No enum class, because an exit code is passed on as an int.
enum ExitCode : int {
  kExitOk = 0,
  // Also says that nothing meets the SLO of `bench` or `tune`.
  kExitServerError = 1,
  kExitUsage = 64,         // a wrong command line, also for the model
  kExitNoInput = 66,       // a file is missing or malformed
  kExitNotReachable = 69,  // no server answers at the address
  kExitCannotWrite = 73,   // stdout or an output file
  kExitWrongConfig = 78,   // the config of `tune` is wrong or missing
};

}  // namespace mpsd::cli
