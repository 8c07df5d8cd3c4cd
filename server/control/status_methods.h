// StatusMethods: mpsd.control.v1.Control, for operators.
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

// Constant while the daemon runs. A value.
struct StatusFacts {
  std::string server_name;
  std::vector<std::pair<std::string, double>> limits;  // by the names of mpsd_limit
  std::vector<std::string> warnings;                   // about the config and the host
};

// Status, which proto/control.proto describes. Workers of a generation that loads or drains beside
// the published one are marked. A refused model has a row whose state is the reason. All texts are
// UTF-8.
//
// The parts are read without a common lock: a worker may appear as it was a moment before its
// model. Runs on its call's thread and does not block. The daemon's start time is the time of this
// call of AddStatusMethods().
//
// PERMISSION_DENIED for callers from other hosts, besides the gate, because the answer names pids
// and files. The referents outlive the table.
void AddStatusMethods(const ModelDirectory* models, const WorkerStatusSource* workers,
                      const ModelControl* control, const StatusFacts& facts, const Clock* clock,
                      MethodTable* table);

// Forgive: a model accepts again the contents that it refuses; the log has a line. Errors are
// FindServed()'s, and PERMISSION_DENIED as above: a client must not forgive itself. The referents
// outlive the table.
void AddForgiveMethod(const ModelDirectory* models, Logger* logger, MethodTable* table);

}  // namespace mpsd
