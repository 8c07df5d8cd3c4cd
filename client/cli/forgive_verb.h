// forgive_verb: the verb `forgive`: a model accepts again the contents that it refuses.
//
// For 5 minutes a model refuses requests with the content of one that crashed its worker. `ps`
// shows these contents. Once the cause is mended, such as a library outside the model, an operator
// need not wait: one call of the daemon's control service forgets them.
#pragma once

#include <ostream>
#include <string>

#include "client/cli/server_options.h"

namespace mpsd::cli {

// The options as on the command line; verbs.cc fills them.
struct ForgiveOptions {
  ServerOptions server;
  std::string model;
};

// Asks the daemon to forget the contents that all versions of the model refuse, and writes their
// number to `out`, or the error to `err`. Connecting and asking may take the option `timeout` each.
// kExitServerError if the server is not mpsd, refuses, or serves no such model. Returns an
// ExitCode. Thread-safe.
int RunForgive(const ForgiveOptions& options, std::ostream& out, std::ostream& err);

}  // namespace mpsd::cli
