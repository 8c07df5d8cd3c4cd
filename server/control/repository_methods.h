// The methods of the inference service about the set of models: index, load, unload.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "server/accept/method_table.h"
#include "server/request/model_control.h"

namespace mpsd {

// Adds the methods to the table. `control` outlives the table. A load or unload is answered when it
// has ended, from the thread of the reloader.
void AddRepositoryMethods(ModelControl* control, MethodTable* table);

// `text` as a client may see it: "(…)" stands for each path, quoted or not, and for each text and
// number of an errno. Reads the first 4 KiB and drops the rest. Pure.
std::string WithoutPathsAndErrnos(absl::string_view text);

}  // namespace mpsd
