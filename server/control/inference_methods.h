// The calls of the inference service that are not inference: live, ready, metadata.
#pragma once

#include <string>

#include "server/accept/method_table.h"
#include "server/request/served_model.h"

namespace mpsd {

// Adds the methods to the table. `models` outlives it.
void AddInferenceMethods(const ModelDirectory* models, const std::string& server_name,
                         MethodTable* table);

}  // namespace mpsd
