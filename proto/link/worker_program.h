// WorkerProgram: which mpsd-worker the front end and the verbs of `mpsd` start.
//
// One build of mpsd fits several versions of libtorch, with a worker for each. The Python package
// knows which libtorch there is, and names its worker in the environment.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace mpsd {

// The program that an option has `given`, unless it is empty. Otherwise the value of MPSD_WORKER,
// if the variable is set and not empty. Otherwise the path of "mpsd-worker" beside the running
// program. Whether there is such a file, the caller finds out. Thread-safe as long as no thread
// sets a variable.
absl::StatusOr<std::string> WorkerProgram(const std::string& given = "");

}  // namespace mpsd
