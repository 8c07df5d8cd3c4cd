#include "client/cli/forgive_verb.h"

#include <nlohmann/json.hpp>

#include "absl/time/clock.h"
#include "client/client.h"

namespace mpsd::cli {

int RunForgive(const ForgiveOptions& options, std::ostream& out, std::ostream& err) {
  const absl::StatusOr<absl::Duration> timeout = ParseTimeout(options.server);
  if (!timeout.ok()) return Fail(err, kExitUsage, timeout.status());
  ExitCode code = kExitOk;
  const auto client = Connect(options.server, absl::Now() + *timeout, &code);
  if (!client.ok()) return Fail(err, code, client.status());
  const auto contents = (*client)->ForgiveContents(options.model, absl::Now() + *timeout);
  if (!contents.ok()) return Fail(err, kExitServerError, contents.status());
  if (options.server.json) {
    const nlohmann::json report = {{"model", options.model}, {"contents", *contents}};
    out << report.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
  } else {
    out << options.model << " takes " << *contents << " contents again\n";
  }
  return kExitOk;
}

}  // namespace mpsd::cli
