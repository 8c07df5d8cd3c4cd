// ExitCode: the exit codes of the client verbs, after sysexits.h.
//
// Scripts branch on them, so a code never changes its meaning. They tell who can help. The caller
// can mend a usage or input error, an unreachable server may be tried again, and a server's error
// has its own code and text. With every code except kExitOk, stderr says why, and stdout has no
// report, with these exceptions. The verb `infer` prints its answer before it writes outputs to
// files, so it may end with kExitCannotWrite after a report. So may every verb if stdout took only
// a part of it. The verbs `bench` and `tune` print their measurements before they end with
// kExitServerError.
#pragma once

namespace mpsd::cli {

// Returned by the verbs' Run…() functions and by `mpsd`. Not an enum class, because an exit code is
// passed on as an int.
enum ExitCode : int {
  kExitOk = 0,
  // the server's error is on stderr; `bench`, `tune`: or nothing meets the SLO
  kExitServerError = 1,
  kExitUsage = 64,         // a wrong command line, or it does not fit the model
  kExitNoInput = 66,       // a file is missing or malformed
  kExitNotReachable = 69,  // no server answers at the address
  kExitCannotWrite = 73,   // stdout or an output file cannot be written
  kExitWrongConfig = 78,   // the config of `tune` has mistakes, or is missing
};

}  // namespace mpsd::cli
