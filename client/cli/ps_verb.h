// ps_verb: the verb `ps`: the models and workers of a running daemon.
#pragma once

#include <ostream>
#include <string>

#include "client/cli/server_options.h"

namespace mpsd::cli {

struct PsOptions {
  ServerOptions server;
  bool why = false;   // say why workers ended, instead
  std::string model;  // only this model; empty: all
};

// Asks the daemon for its status and writes it to `out`, or the error to `err`. Blocks for at most
// the option `timeout`. Returns an ExitCode. Thread-safe.
int RunPs(const PsOptions& options, std::ostream& out, std::ostream& err);

}  // namespace mpsd::cli
