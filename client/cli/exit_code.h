// The exit codes of the client verbs, after sysexits.h.
#pragma once

namespace mpsd::cli {

enum ExitCode : int {
  kExitOk = 0,
  kExitServerError = 1,    // the server answered with an error; its text is on stderr
  kExitUsage = 64,         // the command line makes no sense
  kExitNoInput = 66,       // a file is missing or not what it should be
  kExitNotReachable = 69,  // nobody answers at the address
  kExitCannotWrite = 73,   // an output file cannot be written
};

}  // namespace mpsd::cli
