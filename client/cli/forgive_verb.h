// forgive_verb: the verb `forgive`: a model accepts again the contents that it refuses.
//
// For 5 minutes a model refuses the content of a request that crashed its worker (`ps` shows it).
// An operator who has mended the cause need not wait.
#pragma once

#include <ostream>
#include <string>

#include "client/cli/server_options.h"

namespace mpsd::cli {

// Filled by verbs.cc.
struct ForgiveOptions {
  ServerOptions server;
  std::string model;
};

// Forgets contents of all versions, and writes their number to `out`. Connecting and asking may
// take `timeout` each. kExitServerError if the server is not mpsd, refuses, or serves no such
// model. Thread-safe.
int RunForgive(const ForgiveOptions& options, std::ostream& out, std::ostream& err);

}  // namespace mpsd::cli
