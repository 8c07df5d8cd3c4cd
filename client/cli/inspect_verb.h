// The verbs `inspect` and `init`: what a model file is, and a config for it. The file is loaded by
// mpsd-worker, which has libtorch, in a process of its own.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace mpsd::cli {

struct InspectOptions {
  std::string file;
  std::string worker;  // empty: mpsd-worker beside this program
  std::string device = "cpu";
  std::vector<std::string> inputs;  // NAME:TYPE[DIMS], where the file does not tell
  std::vector<std::string> outputs;
  uint32_t max_batch_size = 0;
  bool json = false;
  std::string target = "mpsd.json";  // of init
  bool force = false;                // init may overwrite it
};

// Writes what the file takes and gives, its census, and a config. Returns an ExitCode.
int RunInspect(const InspectOptions& options, std::ostream& out, std::ostream& err);

// Writes the config to the target. Returns an ExitCode.
int RunInit(const InspectOptions& options, std::ostream& out, std::ostream& err);

// The report of `inspect` for the line that the worker wrote. Pure.
std::string DescriptionText(absl::string_view line);

}  // namespace mpsd::cli
