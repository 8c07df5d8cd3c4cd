// StatusMethods: mpsd.control.v1.Control, for `mpsd ps`, `mpsd forgive` and the page at "/".
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "proto/base/clock.h"
#include "server/http/calls/method_table.h"
#include "server/request/model_control.h"
#include "server/request/served_model.h"
#include "server/request/worker_status.h"
#include "server/telemetry/log/log.h"

namespace mpsd {

// Facts that do not change while the daemon runs. A value.
struct StatusFacts {
  std::string server_name;
  std::vector<std::pair<std::string, double>> limits;  // by the names of mpsd_limit
  std::vector<std::string> warnings;                   // about the config and the host
};

// Adds Status, of the daemon's own service; proto/control.proto describes its reply. It is the
// operator's view. Each published generation has its state, spec, counts, and workers with pids,
// restarts, last exits and last lines. The last reload's outcome follows. Workers of a generation
// that is loading or draining beside it are in the same list, and marked. A refused model has a row
// without workers, whose state is the reason. All texts are UTF-8, whatever the names of files are.
//
// The parts of a reply are read one after another from thread-safe sources, without a common lock:
// a worker may appear as it was a moment before its model. Runs on the thread of its call and does
// not block. The daemon's start time is the time of this call of AddStatusMethods().
//
// PERMISSION_DENIED for callers from other hosts, because the answer names pids and files; this
// comes on top of the gate, which may have no rules. The referents outlive the table.
void AddStatusMethods(const ModelDirectory* models, const WorkerStatusSource* workers,
                      const ModelControl* control, const StatusFacts& facts, const Clock* clock,
                      MethodTable* table);

// Adds Forgive: all versions of a model accept again the contents that they refuse. The log has a
// line for each such call. Errors are those of FindServed(), and PERMISSION_DENIED as above: the
// crashing content may be a client's, which must not forgive itself. The referents outlive the
// table.
void AddForgiveMethod(const ModelDirectory* models, Logger* logger, MethodTable* table);

}  // namespace mpsd
