#include "client/cli/forgive_verb.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/cli/infer_server.h"

namespace mpsd::cli {

int RunForgive(const ForgiveOptions& options, std::ostream& out, std::ostream& err) {
  const absl::StatusOr<absl::Duration> timeout = ParseTimeout(options.server);
  if (!timeout.ok()) return Fail(err, kExitUsage, timeout.status());
  ExitCode code = kExitOk;
  const auto server = ConnectInferServer(options.server, absl::Now() + *timeout, &code);
  if (!server.ok()) return Fail(err, code, server.status());
  const auto contents = (*server)->ForgiveContents(options.model, absl::Now() + *timeout);
  if (!contents.ok()) return Fail(err, kExitServerError, contents.status());
  if (options.server.json) {
    const nlohmann::json report = {{"model", options.model}, {"contents", *contents}};
    return WriteReport(
        out, err, report.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  }
  return WriteReport(out, err,
                     absl::StrCat(options.model, " takes ", *contents, " contents again\n"));
}

}  // namespace mpsd::cli
