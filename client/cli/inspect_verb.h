// inspect_verb: the verbs `inspect` and `init`: a model file's description, and a config for it.
//
//   inspect ─▶ mpsd-worker --describe PATH, in its sandbox ─▶ a line of JSON ─▶ a report, a config
//
// A model's file is code, so only a worker opens it. A folder's tokenizer is no code: the daemon's
// function reads it, which main() hands in.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <ostream>
#include <string>
#include <vector>

namespace mpsd::cli {

// `json` is for `inspect`, `target` and `force` for `init`.
struct InspectOptions {
  std::string file;
  std::string worker;  // empty: WorkerProgram()
  std::string device = "cpu";
  std::string precision = "as_saved";
  std::vector<std::string> inputs;  // NAME:TYPE[DIMS], if the file does not tell
  std::vector<std::string> outputs;
  uint32_t max_batch_size = 0;
  bool json = false;
  std::string target = "mpsd.json";
  bool force = false;  // overwrites the target
};

// Facts with the keys of TokenizerFacts() (server/texts); null without a tokenizer.
using TokenizerTeller = std::function<nlohmann::ordered_json(const std::string& folder)>;

// Writes DescriptionText(), or the worker's line with `json`. For a folder of Hugging Face's the
// key "tokenizer" is added, with "ids_beyond_model": its ids beyond the model's words. A refused
// tokenizer is reported and no failure: the model serves without it.
//
// Blocks until the worker has loaded the file, for ten minutes at most. Returns kExitNoInput if
// there is no such file, it cannot be loaded, or no worker starts, and kExitUsage for a malformed
// input or output.
int RunInspect(const InspectOptions& options, const TokenizerTeller& tokenizer_of,
               std::ostream& out, std::ostream& err);

// Writes the config for `mpsd serve --config TARGET`. kExitUsage if the target exists, unless
// `force`, before the file is loaded. kExitCannotWrite if the target cannot be written. Otherwise
// as RunInspect().
int RunInit(const InspectOptions& options, std::ostream& out, std::ostream& err);

// Makes the report of the worker's line. Pure.
std::string DescriptionText(const nlohmann::ordered_json& json);

}  // namespace mpsd::cli
