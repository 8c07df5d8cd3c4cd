#include "client/cli/config_verdict.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "proto/base/child_output.h"
#include "proto/base/clock.h"
#include "proto/link/worker_program.h"

namespace mpsd::cli {
namespace {

using Json = nlohmann::json;

constexpr int64_t kConfigsNs = 60 * kNsPerSecond;

struct Task {
  absl::string_view name;
  absl::string_view answers;
  absl::string_view routes;
};
constexpr Task kTasks[] = {{"embedding", "embeddings", "/v1/embeddings, /embed, /api/embed"},
                           {"rerank", "scores of pairs", "/rerank, /predict"},
                           {"classify", "classes", "/predict"}};

bool HasTokenizer(const std::vector<hub::HubFile>& files) {
  return std::any_of(files.begin(), files.end(), [](const hub::HubFile& file) {
    return file.path == "tokenizer.json" || file.path == "vocab.txt";
  });
}

ConfigVerdict NotServed(absl::string_view why) {
  return {"", {}, absl::StrCat("not served: ", why)};
}

}  // namespace

ConfigVerdict VerdictOf(const Json& entry, const std::vector<hub::HubFile>& files) {
  const auto text = [&entry](const char* key) {
    const auto found = entry.find(key);
    return found != entry.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  if (!text("error").empty()) return NotServed(text("error"));
  const auto needed = hub::NeededFiles({.commit = "", .files = files});
  if (!needed.ok()) return NotServed(needed.status().message());
  for (const Task& task : kTasks) {
    if (task.name != text("task")) continue;
    ConfigVerdict verdict{text("task"), {}, std::string(task.answers)};
    if (task.name != "rerank") {
      absl::StrAppend(&verdict.text, " of ", entry.value("width", int64_t{0}), " numbers");
    }
    if (HasTokenizer(files)) {
      verdict.routes = absl::StrSplit(task.routes, ", ");
      absl::StrAppend(&verdict.text, ": ", task.routes);
    } else {
      absl::StrAppend(&verdict.text, ", of tokens alone: there is no tokenizer.json");
    }
    return verdict;
  }
  return NotServed("mpsd-worker says no task");
}

absl::StatusOr<std::vector<ConfigVerdict>> ConfigVerdicts(const std::vector<ConfigFolder>& folders,
                                                          const std::string& worker) {
  const absl::StatusOr<std::string> binary = WorkerProgram(worker);
  if (!binary.ok()) return binary.status();
  std::vector<std::string> arguments = {"--configs"};
  for (const ConfigFolder& folder : folders) arguments.push_back(folder.path);
  const absl::StatusOr<ChildOutput> output = RunChild(*binary, arguments, kConfigsNs);
  if (!output.ok()) return output.status();
  const Json entries = Json::parse(LastLine(output->text), nullptr, /*allow_exceptions=*/false);
  if (!entries.is_array() || entries.size() != folders.size()) {
    return absl::InternalError(
        absl::StrCat("mpsd-worker could not read the configs (exit ", output->exit_code, ")"));
  }
  std::vector<ConfigVerdict> verdicts;
  for (size_t i = 0; i < folders.size(); ++i) {
    verdicts.push_back(VerdictOf(entries[i], folders[i].files));
  }
  return verdicts;
}

}  // namespace mpsd::cli
