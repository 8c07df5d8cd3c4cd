// WorkerRuntime: the runtime that a worker uses for its model, as told in its LoadReport.
#pragma once

#include <string>

#include "proto/link/driver_guard.h"
#include "proto/link/input_memory.h"

namespace mpsd {

// Only for operators, in `mpsd ps` and /metrics. A value.
struct WorkerRuntime {
  std::string name{};  // "torch 2.11.0", "synthetic"; empty: not told
  std::string kind{};  // name of a RuntimeKind; empty without libtorch
  std::string path{};  // path of libtorch's own library
  DriverGuard driver_guard = DriverGuard::kNone;
  InputMemory input_memory = InputMemory::kNone;
};

}  // namespace mpsd
