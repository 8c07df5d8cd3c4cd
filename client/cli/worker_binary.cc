#include "client/cli/worker_binary.h"

#include <filesystem>

#include "proto/base/platform.h"

namespace mpsd::cli {

absl::StatusOr<std::string> WorkerBinary(const std::string& given) {
  if (!given.empty()) return given;
  const absl::StatusOr<std::string> program = platform::ExecutablePath();
  if (!program.ok()) return program.status();
  return (std::filesystem::path(*program).parent_path() / "mpsd-worker").string();
}

}  // namespace mpsd::cli
