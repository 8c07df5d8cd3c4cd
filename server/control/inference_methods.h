// The methods of the inference service that are not inference: live, ready, metadata.
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
  bool writes_traces = false;                 // false: the config names no file for traces
  bool takes_shared_memory = false;           // of system memory, from clients
  std::function<bool()> takes_device_memory;  // of CUDA devices, now; any thread calls this
};

// Adds the methods to the table. `models` outlives the table. REQUIRES: takes_device_memory is set.
void AddInferenceMethods(const ModelDirectory* models, const ServerFacts& facts,
                         MethodTable* table);

}  // namespace mpsd
