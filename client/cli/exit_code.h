// ExitCode: the exit codes of the client verbs, after sysexits.h.
//
// Scripts branch on them, so a code never changes its meaning. They tell apart who can help: a
// usage or input error is the caller's to mend, an unreachable server may be tried again, and an
// answer with an error has the server's own code and text. With every code but kExitOk stderr says
// why, and stdout has no report, but for these cases: `infer` prints its answer before it writes
// the outputs to files, and so may end with kExitCannotWrite after a report, as every verb may
// where stdout has taken a part of it; `bench` and `tune` print what they have measured before they
// end with kExitServerError.
#pragma once

namespace mpsd::cli {

// What the Run…() functions of the verbs return, and `mpsd` exits with. Not an enum class, because
// an exit code is passed on as an int.
enum ExitCode : int {
  kExitOk = 0,
  kExitServerError = 1,    // the server answered with an error; its text is on stderr. Of `bench`
                           // and `tune` also: nothing meets the SLO
  kExitUsage = 64,         // the command line is wrong, or does not fit the model
  kExitNoInput = 66,       // a file is missing or malformed
  kExitNotReachable = 69,  // no server answers at the address
  kExitCannotWrite = 73,   // stdout or an output file cannot be written
  kExitWrongConfig = 78,   // the config of `tune` has mistakes, or there is none
};

}  // namespace mpsd::cli
