// The calls of the inference service about the set of models: index, load, unload.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "server/accept/method_table.h"
#include "server/request/model_control.h"

namespace mpsd {

// Adds the methods to the table. `control` outlives it.
void AddRepositoryMethods(ModelControl* control, MethodTable* table);

// `text` as a client may see it: words that hold a path are cut out.
std::string WithoutPaths(absl::string_view text);

}  // namespace mpsd
