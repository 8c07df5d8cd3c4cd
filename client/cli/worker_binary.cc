#include "client/cli/worker_binary.h"

#include "proto/link/worker_program.h"

namespace mpsd::cli {

absl::StatusOr<std::string> WorkerBinary(const std::string& given) {
  return given.empty() ? WorkerProgram() : given;
}

}  // namespace mpsd::cli
