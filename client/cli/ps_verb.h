// The verb `ps`: a running daemon's models and workers.
#pragma once

#include <ostream>
#include <string>

#include "client/cli/server_options.h"

namespace mpsd::cli {

struct PsOptions {
  ServerOptions server;
  bool why = false;   // say why workers ended, instead
  std::string model;  // of this model alone; empty: of all
};

// Returns an ExitCode. Thread-safe.
int RunPs(const PsOptions& options, std::ostream& out, std::ostream& err);

}  // namespace mpsd::cli
