// inspect_verb: the verbs `inspect` and `init`: a description of a model file, and a config for it.
// mpsd-worker, which has libtorch, loads the file in a process of its own.
//
//   inspect ─▶ mpsd-worker --describe PATH, in its sandbox ─▶ a line of JSON ─▶ a report, a config
//
// A model's file is code, and this program never opens it: it starts `mpsd-worker --describe PATH`
// (worker/load/describe.h), which loads the file in its sandbox and writes one line of JSON. The
// worker may write to a temporary folder only, which is removed when the verb ends. A folder's
// tokenizer is no code: in service the front end reads it, and no worker does. So the function that
// reads it is the daemon's, which main() hands in. No daemon needs to run.
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
  std::string target = "mpsd.json";  // of `init`
  bool force = false;                // `init` may overwrite the target
};

// What is to be told of the tokenizer in a model's folder, with the keys of TokenizerFacts()
// (server/texts); null where there is none.
using TokenizerTeller = std::function<nlohmann::ordered_json(const std::string& folder)>;

// Writes the inputs and outputs of the file, its census, and a config, and of a folder of Hugging
// Face's its tokenizer: DescriptionText() of the worker's line, or with `json` that line, to which
// the key "tokenizer" is added, and in it "ids_beyond_model": how many of its ids are no word of
// the model's. A tokenizer that is refused is told of, and no failure: the model serves without.
//
// Blocks until the worker has loaded the file; kills the worker after ten minutes. kExitNoInput
// with the reason when there is no such file, it cannot be loaded, or the worker cannot be started;
// kExitUsage when an input or output is written wrongly. Returns an ExitCode.
int RunInspect(const InspectOptions& options, const TokenizerTeller& tokenizer_of,
               std::ostream& out, std::ostream& err);

// Writes the config to the target, for `mpsd serve --config TARGET`. kExitUsage when the target is
// there already, unless `force`; that is checked before the file is loaded. kExitCannotWrite when
// the target cannot be written. Otherwise fails and blocks like RunInspect(). Returns an ExitCode.
int RunInit(const InspectOptions& options, std::ostream& out, std::ostream& err);

// The report of `inspect`, from the JSON that it writes: where the model was loaded, its precision,
// its batches, its operators and parameters, the facts of its family, its tokenizer, a table of its
// tensors with their open dims, one of its prompts, and the config. Pure.
std::string DescriptionText(const nlohmann::ordered_json& json);

}  // namespace mpsd::cli
