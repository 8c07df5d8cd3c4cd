// list_verb: the verb `list`: the models that a server of the protocol knows, loaded or not.
//
// One call of the protocol's RepositoryIndex, so any server that has it answers. For an mpsd `ps`
// says more: workers, lanes, queues (ps_verb.h).
//
//   MODEL   VERSION  STATE        REASON
//   bert    2        READY        -
//   resnet  1        UNAVAILABLE  its file cannot be read
#pragma once

#include <ostream>

#include "client/cli/server_options.h"

namespace mpsd::cli {

// Asks the server for its models and writes them to `out`, as a table or JSON, or the error to
// `err`. Connecting and asking may take the option `timeout` each. Returns an ExitCode.
// Thread-safe.
int RunList(const ServerOptions& options, std::ostream& out, std::ostream& err);

}  // namespace mpsd::cli
