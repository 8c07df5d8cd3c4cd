// inspect_verb: the verbs `inspect` and `init`: a description of a model file, and a config for it.
// mpsd-worker, which has libtorch, loads the file in a process of its own.
//
// A model's file is code, and this program never opens it: it starts `mpsd-worker --describe PATH`
// (worker/load/describe.h), which loads the file in its sandbox and writes one line of JSON. The
// worker may write to a temporary folder only, which is removed when the verb ends. No daemon needs
// to run.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace mpsd::cli {

// The options of both verbs; `json` is for `inspect`, `target` and `force` are for `init`.
struct InspectOptions {
  std::string file;
  std::string worker;  // empty: the mpsd-worker beside this program
  std::string device = "cpu";
  std::string precision = "as_saved";
  std::vector<std::string> inputs;  // NAME:TYPE[DIMS], if the file does not tell
  std::vector<std::string> outputs;
  uint32_t max_batch_size = 0;
  bool json = false;
  std::string target = "mpsd.json";  // of `init`
  bool force = false;                // `init` may overwrite the target
};

// Writes the inputs and outputs of the file, its census, and a config: the worker's line itself
// with `json`, otherwise DescriptionText() of it. Blocks until the worker has loaded the file;
// kills the worker after ten minutes. kExitNoInput with the reason when there is no such file, it
// cannot be loaded, or the worker cannot be started; kExitUsage when an input or output is written
// wrongly. Returns an ExitCode.
int RunInspect(const InspectOptions& options, std::ostream& out, std::ostream& err);

// Writes the config to the target, for `mpsd serve --config TARGET`. kExitUsage when the target is
// there already, unless `force`; that is checked before the file is loaded. kExitCannotWrite when
// the target cannot be written. Otherwise fails and blocks like RunInspect(). Returns an ExitCode.
int RunInit(const InspectOptions& options, std::ostream& out, std::ostream& err);

// The report of `inspect`, from the line of JSON that the worker wrote: where the model was loaded,
// its precision, its batches, its operators and parameters, the facts of its family, a table of its
// tensors with their open dims, and the config. A line that is no JSON object is returned as it is.
// Pure.
std::string DescriptionText(absl::string_view line);

}  // namespace mpsd::cli
