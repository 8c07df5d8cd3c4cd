// inspect_verb: the verbs `inspect` and `init`: a model file's description, and a config for it.
// The file is loaded by mpsd-worker, which has libtorch, in its own process.
//
//   inspect ─▶ mpsd-worker --describe PATH, in its sandbox ─▶ a line of JSON ─▶ a report, a config
//
// A model's file is code, and this program never opens it. It starts `mpsd-worker --describe PATH`
// (worker/load/describe.h), which loads the file in its sandbox and writes one line of JSON. The
// worker may write only to a temporary folder, which is removed when the verb ends. A folder's
// tokenizer is no code: in service the front end reads it. So the function that reads it is the
// daemon's, which main() hands in. No daemon needs to run.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <ostream>
#include <string>
#include <vector>

namespace mpsd::cli {

// The options of both verbs; `json` is for `inspect`, `target` and `force` are for `init`.
struct InspectOptions {
  std::string file;
  std::string worker;  // empty: WorkerProgram()
  std::string device = "cpu";
  std::string precision = "as_saved";
  std::vector<std::string> inputs;  // NAME:TYPE[DIMS], if the file does not tell
  std::vector<std::string> outputs;
  uint32_t max_batch_size = 0;
  bool json = false;
  std::string target = "mpsd.json";  // for `init`
  bool force = false;                // `init` may overwrite the target
};

// The facts about the tokenizer in a model's folder, with the keys of TokenizerFacts()
// (server/texts); null without one.
using TokenizerTeller = std::function<nlohmann::ordered_json(const std::string& folder)>;

// Writes the file's inputs and outputs, its census, and a config, and for a Hugging Face folder its
// tokenizer. This is DescriptionText() of the worker's line, or that line with `json`. The line
// gets the key "tokenizer" with "ids_beyond_model": how many of its ids exceed the model's words. A
// refused tokenizer is reported and no failure: the model serves without it.
//
// Blocks until the worker has loaded the file; kills the worker after ten minutes. The code is
// kExitNoInput, with the reason, if there is no such file, it cannot be loaded, or no worker can be
// started. The code is kExitUsage for a malformed input or output. Returns an ExitCode.
int RunInspect(const InspectOptions& options, const TokenizerTeller& tokenizer_of,
               std::ostream& out, std::ostream& err);

// Writes the config to the target, for `mpsd serve --config TARGET`. The code is kExitUsage if the
// target exists, unless `force`; this is checked before the file is loaded. The code is
// kExitCannotWrite if the target cannot be written. Otherwise fails and blocks like RunInspect().
// Returns an ExitCode.
int RunInit(const InspectOptions& options, std::ostream& out, std::ostream& err);

// The report of `inspect`, from its JSON. It has the device of the load, precision, batches,
// operators and parameters, the facts of the model's family, the tokenizer, and the config. It has
// tables of the tensors with their open dims, and of prompts. Pure.
std::string DescriptionText(const nlohmann::ordered_json& json);

}  // namespace mpsd::cli
