// ps_verb: the verb `ps`: the models and workers of a running daemon.
//
// One call of the daemon's control service, which shows the state at that moment
// (client/daemon_status.h). Without further options the output has three parts: the daemon and its
// last reload, a table of models, a table of workers. Between the tables stand the reasons of
// models that do not serve, and the contents that models refuse since they crashed a worker. --why
// shows instead, for each worker, how its last incarnation ended, the last lines that the worker
// wrote, and when the next one starts. --json writes all of it and outweighs --why.
#pragma once

#include <ostream>
#include <string>

#include "client/cli/server_options.h"

namespace mpsd::cli {

// The options as they stand on the command line; verbs.cc fills them.
struct PsOptions {
  ServerOptions server;
  bool why = false;   // say why workers ended, instead
  std::string model;  // only this model; empty: all
};

// Asks the daemon for its status and writes it to `out`, or the error to `err`. Connecting and
// asking may take the option `timeout` each. kExitServerError when the server is not mpsd, keeps
// its status to itself, or has no model of that name. Returns an ExitCode. Thread-safe.
int RunPs(const PsOptions& options, std::ostream& out, std::ostream& err);

}  // namespace mpsd::cli
