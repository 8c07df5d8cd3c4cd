#include "server/ready_table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace mpsd {
namespace {

std::string Row(const ServedModel& model, const std::vector<WorkerInfo>& workers, size_t width) {
  const WorkerInfo first = workers.empty() ? WorkerInfo{} : workers.front();
  std::string what = "waits for its worker";
  if (!first.last_words.empty()) what = first.last_words;
  if (model.loaded && model.ready) what = SpecText(model.spec);
  return absl::StrFormat("  %-*s  %-9s  %-6s  %-7s  %s\n", static_cast<int>(width), model.name,
                         model.ready ? "ready" : "NOT READY",
                         first.device.empty() ? "-" : first.device,
                         absl::StrCat(workers.size(), "x", first.lanes), what);
}

std::string Row(const RefusedModel& model, size_t width) {
  return absl::StrFormat("  %-*s  %-9s  %-6s  %-7s  %s\n", static_cast<int>(width), model.name,
                         "REFUSED", "-", "-", model.reason);
}

std::string Examples(const ReadyTableFacts& facts, const ModelDirectory& models) {
  std::string text = "\nTry:\n";
  for (const auto& model : models.models()) {
    if (!model->ready) continue;
    const bool takes_text = model->parameters.count("vocab") > 0;
    const std::string first_input = model->spec.inputs.front().name;
    absl::StrAppend(&text, "  ", facts.program, " infer ", model->name,
                    takes_text ? " --text 'How far is it to the sea?'"
                               : absl::StrCat(" --input ", first_input, "=random"),
                    "\n");
  }
  absl::StrAppend(&text, "  ", facts.program, " ps\n");
  if (!facts.http.empty()) absl::StrAppend(&text, "  curl http://", facts.http, "/metrics\n");
  return text;
}

}  // namespace

std::string ReadyTable(const ReadyTableFacts& facts, const ModelDirectory& models,
                       const WorkerStatusSource& workers) {
  std::string text = absl::StrCat("\nmpsd ", MPSD_VERSION, " takes gRPC calls on ",
                                  absl::StrJoin(facts.grpc, ", "));
  if (!facts.http.empty()) absl::StrAppend(&text, ", http on ", facts.http);
  size_t width = 5;
  for (const auto& model : models.models()) width = std::max(width, model->name.size());
  const std::vector<RefusedModel> refused = models.refused();
  for (const RefusedModel& model : refused) width = std::max(width, model.name.size());
  absl::StrAppendFormat(&text, "\n\n  %-*s  %-9s  %-6s  %-7s  %s\n", static_cast<int>(width),
                        "MODEL", "STATE", "DEVICE", "WORKERS", "INPUTS -> OUTPUTS");
  for (const auto& model : models.models()) {
    absl::StrAppend(&text, Row(*model, workers.Workers(*model), width));
  }
  for (const RefusedModel& model : refused) absl::StrAppend(&text, Row(model, width));
  return absl::StrCat(text, Examples(facts, models));
}

}  // namespace mpsd
