// infer_verb: the verb `infer`: one request to a running daemon, its answer for people or programs.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "client/cli/server_options.h"

namespace mpsd::cli {

// The options as they stand on the command line.
struct InferOptions {
  ServerOptions server;
  std::string model;
  std::string version;
  std::string id;
  std::vector<std::string> inputs;  // NAME=@FILE.npy, NAME=random
  std::vector<std::string> shapes;  // NAME=1,16
  std::vector<std::string> texts;
  std::vector<std::string> outputs;  // NAME, NAME=@FILE.npy
  std::string vocab;                 // empty: the vocabulary that the model's parameters name
  int64_t batch = 0;                 // 0: not given
  uint64_t seed = 1;
};

// Connects, makes the inputs, sends one request, and writes the answer to `out` or the error to
// `err`. Blocks for at most the option `timeout`. Returns an ExitCode. Thread-safe.
int RunInfer(const InferOptions& options, std::ostream& out, std::ostream& err);

}  // namespace mpsd::cli
