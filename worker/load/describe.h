// Describe: the answers of an mpsd-worker that is started by hand, or by a verb of `mpsd`.
//
// Only this binary has libtorch. So only it knows what a model file takes and gives, or on which
// devices models can run here. Another program starts it as a child and reads one line:
//
//   `mpsd inspect`, `mpsd init`         --describe FILE         client/cli/inspect_verb.h
//   `mpsd models`, `inspect ORG/NAME`   --configs FOLDER…       client/cli/config_verdict.h
//   `mpsd serve`, before it places      --devices               server/models
//   `mpsd doctor`                       --devices, --sandbox    server/operate/doctor
#pragma once

namespace mpsd {

// Runs the command in `argv` and returns the process's exit code. The last line of stdout is JSON.
// Called once, on the main thread, instead of serving.
//
//   mpsd-worker --describe FILE [--format F] [--device D] [--input NAME:TYPE[DIMS]]…
//                               [--output …]… [--max-batch-size N]
//
// Loads the model as for serving, in its sandbox. Writes inputs and outputs, the census, the
// family's facts, the lanes with the reason for fewer, and a config. FILE is a folder of Hugging
// Face's, a .pt2 package or otherwise TorchScript. A first dim of -1 is the batch. A model
// that cannot be loaded gives {"error": …} and exit code 65; wrong flags give 64.
//
// mpsd-worker --configs FOLDER… writes an entry for each folder of Hugging Face's: the task, the
// numbers in an answer's row and the family's facts, or {"error": …}. Weights may be missing.
//
// mpsd-worker --devices writes the devices that models can run on here, the one of "auto" first;
// the one that "auto" passes over and why; and the runtime.
//
// mpsd-worker --sandbox gives up the rights that the level 'strict' takes. Writes {"sandbox":
// "strict"}, or {"error": …} if the host cannot do all of that; the exit code is 0 in both cases.
int Describe(int argc, char** argv);

}  // namespace mpsd
