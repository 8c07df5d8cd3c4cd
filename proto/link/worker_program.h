// WorkerProgram: which mpsd-worker the front end and the verbs of `mpsd` start.
//
// A build has a worker for each of several versions of libtorch; the Python package names its
// worker in the environment.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace mpsd {

// `given`, else MPSD_WORKER, else "mpsd-worker" beside the running program; empty ones do not
// count. The file may be missing. Thread-safe while no thread sets a variable.
absl::StatusOr<std::string> WorkerProgram(const std::string& given = "");

}  // namespace mpsd
