// Looks at the host before models are placed on it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "server/config.h"
#include "server/placement.h"
#include "server/telemetry/log.h"

namespace mpsd {

// The cores and the memory that are left to us, and, where there may be a gpu, what a worker says
// that it can run on: only it has libtorch. A worker that says nothing within its time leaves
// "auto" to be the cpu, with a line in the log. Does not look at files.
HostFacts LookAtHost(const std::string& worker_binary, Logger* logger);

// Of each model's file; 0 where there is none.
std::vector<uint64_t> FileBytes(absl::Span<const ModelConfig> models);

// The facts of what `mpsd-worker --devices` wrote. Pure; false when it is nothing that we know.
bool ReadDevices(const std::string& line, HostFacts* host);

}  // namespace mpsd
