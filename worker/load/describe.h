// What mpsd-worker says when it is started by hand, or by a verb of the command line.
#pragma once

namespace mpsd {

// mpsd-worker --describe FILE [--format F] [--device D] [--input NAME:TYPE[DIMS]]…
//                             [--output …]… [--max-batch-size N]
// loads the model and writes one line of JSON: what it takes and gives, its census, the lanes its
// runtime can bear, a config for it; or {"error": …} and a code other than 0.
//
// mpsd-worker --devices writes one line of JSON: the devices that models can run on here, the one
// that "auto" is first, and the runtime.
//
// The line is the last of stdout. Returns the process's exit code.
int Describe(int argc, char** argv);

}  // namespace mpsd
