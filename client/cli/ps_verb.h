// ps_verb: the verb `ps`: the models and workers of a running daemon (client/daemon_status.h).
//
// The tables of models and workers come with the last reload, the reasons of models that do not
// serve, and refused contents. Instead, --why shows how each worker's last incarnation ended, its
// last lines, and when the next one starts. With --json it writes everything.
#pragma once

#include <ostream>
#include <string>

#include "client/cli/server_options.h"

namespace mpsd::cli {

// Filled by verbs.cc.
struct PsOptions {
  ServerOptions server;
  bool why = false;   // say why workers ended, instead
  std::string model;  // empty: all
};

// Connecting and asking may take `timeout` each. kExitServerError if the server is not mpsd, keeps
// its status to itself, or has no such model. Thread-safe.
int RunPs(const PsOptions& options, std::ostream& out, std::ostream& err);

}  // namespace mpsd::cli
