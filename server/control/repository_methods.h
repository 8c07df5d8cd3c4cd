// The calls of the inference service about the set of models: index, load, unload.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "server/accept/method_table.h"
#include "server/request/model_control.h"

namespace mpsd {

// Adds the methods to the table. `control` outlives it.
void AddRepositoryMethods(ModelControl* control, MethodTable* table);

// `text` as a client may see it: paths are cut out, in quotes or as words, and so is what the
// system says of its errors.
std::string TextForClients(absl::string_view text);

}  // namespace mpsd
