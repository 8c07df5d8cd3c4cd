// grpc.health.v1.Health: Check and Watch, of the server and of each model.
#pragma once

#include "server/accept/method_table.h"
#include "server/request/served_model.h"

namespace mpsd {

// Adds the methods to the table. `models` outlives the table. The empty name and
// "inference.GRPCInferenceService" stand for the server; every other name stands for a model. The
// methods run on the queue thread of their call and do not block.
void AddHealthMethods(const ModelDirectory* models, MethodTable* table);

}  // namespace mpsd
