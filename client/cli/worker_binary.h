// WorkerBinary: the mpsd-worker that verbs start.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace mpsd::cli {

// The path of the mpsd-worker beside this program, unless `given` names another. Thread-safe.
absl::StatusOr<std::string> WorkerBinary(const std::string& given);

}  // namespace mpsd::cli
