// Describe: the answers of an mpsd-worker that is started by hand, or by a verb of the command
// line.
//
// Only this binary has libtorch. So only it can say what a model file takes and gives, or on which
// devices models can run here. Another program starts it as a child and reads one line:
//
//   `mpsd inspect`, `mpsd init`         --describe FILE         client/cli/inspect_verb.h
//   `mpsd models`, `inspect ORG/NAME`   --configs FOLDER…       client/cli/config_verdict.h
//   `mpsd serve`, before it places      --devices               server/models
//   `mpsd doctor`                       --devices, --sandbox    server/operate/doctor
//
// No front end and no shared memory take part. The model is loaded as for serving: in its sandbox,
// on the requested device, with no more trial runs than its format needs for loading.
#pragma once

namespace mpsd {

// Runs the command in `argv` and returns the process's exit code.
//
// mpsd-worker --describe FILE [--format F] [--device D] [--input NAME:TYPE[DIMS]]…
//                             [--output …]… [--max-batch-size N]
//
// Loads the model in its sandbox and writes one line of JSON: its inputs and outputs, its census,
// the facts of its family, its lanes, and a config for it. The lanes are the number that its
// runtime can bear, and why not more. FILE is a folder of Hugging Face's, a .pt2 package or
// otherwise TorchScript, unless --format says so. A shape includes the batch: a first dim of -1 is
// the batch. If the model cannot be loaded, the line is {"error": …} and the exit code 65. The exit
// code is 64 for wrong flags.
//
// mpsd-worker --configs FOLDER… writes one line of JSON: a list with an entry for each folder of
// Hugging Face's. An entry is {"error": …}, or it has the task, how many numbers a row of an answer
// has, and the facts of the family. Only small files are read, so weights and tokenizers may be
// missing. The exit code is 0.
//
// mpsd-worker --devices writes one line of JSON. The line has the devices that models can run on
// here, first the one that "auto" stands for; the one that "auto" passes over and why; and the
// runtime.
//
// mpsd-worker --sandbox gives up the rights that the level 'strict' takes, runs no model, and
// writes one line of JSON. The line is {"sandbox": "strict"}, or {"error": …} if the host cannot do
// all of that. The exit code is 0 in both cases.
//
// The line is the last of stdout; libraries may write others before it. Called once, on the main
// thread, instead of serving.
int Describe(int argc, char** argv);

}  // namespace mpsd
