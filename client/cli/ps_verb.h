// The verb `ps`: a running daemon's models and workers.
#pragma once

#include <ostream>

#include "client/cli/server_options.h"

namespace mpsd::cli {

// Returns an ExitCode. Thread-safe.
int RunPs(const ServerOptions& options, std::ostream& out, std::ostream& err);

}  // namespace mpsd::cli
