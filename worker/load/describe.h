// Describe: the answers of an mpsd-worker that is started by hand, or by a verb of the command
// line.
//
// Only this binary has libtorch, so only it can say what a model file takes and gives, or on which
// devices models can run here. A program that wants to know starts it as a child and reads one
// line:
//
//   `mpsd inspect`, `mpsd init`         --describe FILE         client/cli/inspect_verb.h
//   `mpsd serve`, before it places      --devices               server/place
//   `mpsd doctor`                       --devices, --sandbox    server/doctor
//
// No front end and no shared memory take part. The model is loaded as for serving, in its sandbox,
// on the device that is asked for; it runs at most the trial runs that its format needs to load it.
#pragma once

namespace mpsd {

// Runs the command in `argv` and returns the process's exit code.
//
// mpsd-worker --describe FILE [--format F] [--device D] [--input NAME:TYPE[DIMS]]…
//                             [--output …]… [--max-batch-size N]
// loads the model in its sandbox and writes one line of JSON: its inputs and outputs, its census,
// the facts of its family, how many lanes its runtime can bear and why not more, and a config for
// it. FILE is a folder of Hugging Face's, a .pt2 package or else TorchScript, unless --format says.
// A shape is whole: a first dim of -1 is the batch. When the model cannot be loaded the line is
// {"error": …} and the exit code 65; it is 64 for flags that are wrong.
//
// mpsd-worker --devices writes one line of JSON: the devices that models can run on here, beginning
// with the one that "auto" stands for, the one that "auto" passes over and why, and the runtime.
//
// mpsd-worker --sandbox gives up the rights that the level 'strict' takes, runs no model, and
// writes one line of JSON: {"sandbox": "strict"}, or {"error": …} where the host cannot do all of
// that, with the exit code 0 in both cases.
//
// The line is the last of stdout; libraries may write others before it. Called once, on the main
// thread, instead of serving.
int Describe(int argc, char** argv);

}  // namespace mpsd
