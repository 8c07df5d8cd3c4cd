// ExitCode: the exit codes of the client verbs, after sysexits.h.
#pragma once

namespace mpsd::cli {

enum ExitCode : int {
  kExitOk = 0,
  kExitServerError = 1,    // the server answered with an error; its text is on stderr
  kExitUsage = 64,         // the command line is wrong
  kExitNoInput = 66,       // a file is missing or malformed
  kExitNotReachable = 69,  // no server answers at the address
  kExitCannotWrite = 73,   // an output file cannot be written
};

}  // namespace mpsd::cli
