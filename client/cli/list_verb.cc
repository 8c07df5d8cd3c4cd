#include "client/cli/list_verb.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/time/clock.h"
#include "client/cli/infer_server.h"
#include "client/client.h"
#include "client/format/table.h"

namespace mpsd::cli {
namespace {

using client::ListedModel;
using Json = nlohmann::json;

// One line of a foreign server's text.
std::string Cell(std::string text) {
  std::replace_if(text.begin(), text.end(), absl::ascii_iscntrl, ' ');
  return text.empty() ? "-" : text;
}

std::string ListText(const std::vector<ListedModel>& models, bool colours) {
  Table table({{"MODEL"}, {"VERSION"}, {"STATE", Table::Align::kLeft, ColourOfState}, {"REASON"}});
  for (const ListedModel& model : models) {
    table.AddRow({Cell(model.name), Cell(model.version), Cell(model.state), Cell(model.reason)});
  }
  return table.Text(colours);
}

std::string ListJson(const std::vector<ListedModel>& models) {
  Json report = Json::array();
  for (const ListedModel& model : models) {
    report.push_back({{"name", model.name},
                      {"version", model.version},
                      {"state", model.state},
                      {"reason", model.reason}});
  }
  return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

int RunList(const ServerOptions& options, std::ostream& out, std::ostream& err) {
  const absl::StatusOr<absl::Duration> timeout = ParseTimeout(options);
  if (!timeout.ok()) return Fail(err, kExitUsage, timeout.status());
  ExitCode code = kExitOk;
  const auto server = ConnectInferServer(options, absl::Now() + *timeout, &code);
  if (!server.ok()) return Fail(err, code, server.status());
  const auto models = (*server)->ListModels(absl::Now() + *timeout);
  if (!models.ok()) return Fail(err, kExitServerError, models.status());
  return WriteReport(out, err,
                     options.json ? ListJson(*models) : ListText(*models, options.colours));
}

}  // namespace mpsd::cli
