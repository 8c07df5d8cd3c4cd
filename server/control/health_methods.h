// grpc.health.v1.Health: Check and Watch, of the server and of each model.
#pragma once

#include "server/accept/method_table.h"
#include "server/request/served_model.h"

namespace mpsd {

// Adds the methods to the table. `models` outlives it. The empty name and
// "inference.GRPCInferenceService" stand for the server; every other name is a model's.
void AddHealthMethods(const ModelDirectory* models, MethodTable* table);

}  // namespace mpsd
