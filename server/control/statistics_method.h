// ModelStatistics: what the models have done since they were loaded.
#pragma once

#include "server/accept/method_table.h"
#include "server/request/served_model.h"
#include "server/request/worker_status.h"

namespace mpsd {

// Adds the method to the table. The referents outlive it. No name stands for all models, no
// version for all of a model. A model's
// memory is what its workers have resident.
void AddStatisticsMethod(const ModelDirectory* models, const WorkerStatusSource* workers,
                         MethodTable* table);

}  // namespace mpsd
