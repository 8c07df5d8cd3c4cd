// ModelConfig: what a model runs with, in Triton's form of a model configuration.
#pragma once

#include "server/accept/method_table.h"
#include "server/request/served_model.h"

namespace mpsd {

// Adds the method to the table. `models` outlives the table. A model that is not loaded yet is
// UNAVAILABLE.
void AddModelConfigMethod(const ModelDirectory* models, MethodTable* table);

}  // namespace mpsd
