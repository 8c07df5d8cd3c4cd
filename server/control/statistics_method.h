// ModelStatistics: what the models have done since they were first loaded.
#pragma once

#include "server/accept/method_table.h"
#include "server/request/served_model.h"
#include "server/request/worker_status.h"

namespace mpsd {

// Adds the method to the table. The referents outlive the table. An empty name stands for all
// models, an empty version for all versions. The memory of a model is the resident memory of its
// workers.
void AddStatisticsMethod(const ModelDirectory* models, const WorkerStatusSource* workers,
                         MethodTable* table);

}  // namespace mpsd
