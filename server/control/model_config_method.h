// ModelConfig: a model's config in the form that the protocol's clients read.
#pragma once

#include "server/accept/method_table.h"
#include "server/request/served_model.h"

namespace mpsd {

// Adds the method to the table. `models` outlives it.
void AddModelConfigMethod(const ModelDirectory* models, MethodTable* table);

}  // namespace mpsd
