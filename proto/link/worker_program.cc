#include "proto/link/worker_program.h"

#include <cstdlib>
#include <filesystem>

#include "proto/base/platform.h"

namespace mpsd {

absl::StatusOr<std::string> WorkerProgram(const std::string& given) {
  if (!given.empty()) return given;
  if (const char* told = std::getenv("MPSD_WORKER"); told != nullptr && *told != '\0') return told;
  const absl::StatusOr<std::string> program = platform::ExecutablePath();
  if (!program.ok()) return program.status();
  return (std::filesystem::path(*program).parent_path() / "mpsd-worker").string();
}

}  // namespace mpsd
