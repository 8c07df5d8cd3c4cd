// mpsd.control.v1.Control: the status that `mpsd ps` shows.
#pragma once

#include <string>

#include "server/accept/method_table.h"
#include "server/request/model_control.h"
#include "server/request/served_model.h"
#include "server/request/worker_status.h"

namespace mpsd {

// Adds the method to the table. The referents outlive the table. Callers from other hosts are
// refused, because the answer names pids and files.
void AddStatusMethods(const ModelDirectory* models, const WorkerStatusSource* workers,
                      const ModelControl* control, const std::string& server_name,
                      MethodTable* table);

}  // namespace mpsd
