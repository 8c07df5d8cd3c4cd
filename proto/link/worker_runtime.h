// WorkerRuntime: what a worker runs its model with, as it says in its LoadReport.
#pragma once

#include <string>

#include "proto/link/driver_guard.h"
#include "proto/link/input_memory.h"

namespace mpsd {

// For operators, in `mpsd ps` and /metrics; nothing is decided by it. A value.
struct WorkerRuntime {
  std::string name{};  // "torch 2.11.0", "synthetic"; empty: it was not told
  std::string kind{};  // the name of a RuntimeKind; empty without libtorch
  std::string path{};  // of libtorch's own library; empty without one
  DriverGuard driver_guard = DriverGuard::kNone;
  InputMemory input_memory = InputMemory::kNone;
};

}  // namespace mpsd
