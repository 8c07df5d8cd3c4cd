// ps_verb: the verb `ps`: the models and workers of a running daemon.
//
// One call of the daemon's control service, which shows the current state (client/daemon_status.h).
// Without further options the output has three parts: the daemon and its last reload, a table of
// models, a table of workers. Between the tables stand the reasons of models that do not serve, and
// the contents that models refuse after crashes. With --why it shows the workers' ends instead: for
// each how its last incarnation ended, its last lines, and when the next one starts. With --json it
// writes everything, whatever --why says.
#pragma once

#include <ostream>
#include <string>

#include "client/cli/server_options.h"

namespace mpsd::cli {

// The options as on the command line; verbs.cc fills them.
struct PsOptions {
  ServerOptions server;
  bool why = false;   // say why workers ended, instead
  std::string model;  // only this model; empty: all
};

// Asks the daemon for its status and writes it to `out`, or the error to `err`. Connecting and
// asking may take the option `timeout` each. kExitServerError if the server is not mpsd, keeps its
// status to itself, or has no such model. Returns an ExitCode. Thread-safe.
int RunPs(const PsOptions& options, std::ostream& out, std::ostream& err);

}  // namespace mpsd::cli
