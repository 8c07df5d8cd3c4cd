// The calls of the inference service that are not inference: live, ready, metadata.
#pragma once

#include <functional>
#include <string>

#include "server/accept/method_table.h"
#include "server/request/served_model.h"

namespace mpsd {

// What ServerMetadata says.
struct ServerFacts {
  std::string name;
  std::string version;
  bool writes_traces = false;                 // without, TraceSetting changes nothing
  bool takes_shared_memory = false;           // of clients
  std::function<bool()> takes_device_memory;  // likewise, at the moment; called on any thread
};

// Adds the methods to the table. `models` outlives it.
void AddInferenceMethods(const ModelDirectory* models, const ServerFacts& facts,
                         MethodTable* table);

}  // namespace mpsd
