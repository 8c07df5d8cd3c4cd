// Describe: the answers of an mpsd-worker that is started by hand, or by a verb of the command
// line.
#pragma once

namespace mpsd {

// Runs the command in `argv` and returns the process's exit code.
//
// mpsd-worker --describe FILE [--format F] [--device D] [--input NAME:TYPE[DIMS]]…
//                             [--output …]… [--max-batch-size N]
// loads the model in its sandbox and writes one line of JSON: its inputs and outputs, its
// census, how many lanes its runtime can bear, and a config for it. When it cannot be loaded the
// line is {"error": …} and the exit code is not 0.
//
// mpsd-worker --devices writes one line of JSON: the devices that models can run on here, beginning
// with the one that "auto" stands for, and the runtime.
//
// The line is the last of stdout; libraries may write others before it. Called once, on the main
// thread, instead of serving.
int Describe(int argc, char** argv);

}  // namespace mpsd
