// inspect_verb: the verbs `inspect` and `init`: a description of a model file, and a config for it.
// mpsd-worker, which has libtorch, loads the file in a process of its own.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace mpsd::cli {

struct InspectOptions {
  std::string file;
  std::string worker;  // empty: the mpsd-worker beside this program
  std::string device = "cpu";
  std::vector<std::string> inputs;  // NAME:TYPE[DIMS], if the file does not tell
  std::vector<std::string> outputs;
  uint32_t max_batch_size = 0;
  bool json = false;
  std::string target = "mpsd.json";  // of `init`
  bool force = false;                // `init` may overwrite the target
};

// Writes the inputs and outputs of the file, its census, and a config. Blocks until the worker has
// loaded the file. Returns an ExitCode.
int RunInspect(const InspectOptions& options, std::ostream& out, std::ostream& err);

// Writes the config to the target. Blocks like RunInspect(). Returns an ExitCode.
int RunInit(const InspectOptions& options, std::ostream& out, std::ostream& err);

// The report of `inspect`, from the line of JSON that the worker wrote. Pure.
std::string DescriptionText(absl::string_view line);

}  // namespace mpsd::cli
