#include "client/cli/server_options.h"

#include "absl/strings/str_cat.h"
#include "proto/base/units.h"

namespace mpsd::cli {

absl::StatusOr<absl::Duration> ParseTimeout(const ServerOptions& options) {
  const absl::StatusOr<int64_t> timeout_ns = ParseDurationNs(options.timeout);
  if (!timeout_ns.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("--timeout: ", timeout_ns.status().message()));
  }
  if (*timeout_ns <= 0) return absl::InvalidArgumentError("--timeout: must be more than 0");
  return absl::Nanoseconds(*timeout_ns);
}

int Fail(std::ostream& err, ExitCode code, const absl::Status& status) {
  err << "mpsd: ";
  if (code == kExitServerError) err << absl::StatusCodeToString(status.code()) << ": ";
  err << std::string(status.message()) << "\n";
  return code;
}

}  // namespace mpsd::cli
