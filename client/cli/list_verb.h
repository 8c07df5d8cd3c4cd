// list_verb: the verb `list`: the models that a server of the protocol knows, loaded or not.
//
// Any server with the protocol's RepositoryIndex answers; for an mpsd `ps` says more.
//
//   MODEL   VERSION  STATE        REASON
//   bert    2        READY        -
//   resnet  1        UNAVAILABLE  its file cannot be read
#pragma once

#include <ostream>

#include "client/cli/server_options.h"

namespace mpsd::cli {

// Writes a table or JSON. Connecting and asking may take `timeout` each. Thread-safe.
int RunList(const ServerOptions& options, std::ostream& out, std::ostream& err);

}  // namespace mpsd::cli
