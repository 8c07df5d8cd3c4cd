// ConfigVerdict: what mpsd would make of a folder of Hugging Face's, from its small files alone.
//
//   the folders ─▶ mpsd-worker --configs ─▶ a line of JSON ─▶ a verdict for each
//
// Weights and tokenizers are not opened, so a folder needs neither. Only the worker knows which
// configs it can serve.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/hub/hub_listing.h"

namespace mpsd::cli {

// A folder, and all files that the model has, whether they lie in the folder or only at the hub.
struct ConfigFolder {
  std::string path;
  std::vector<hub::HubFile> files;
};

struct ConfigVerdict {
  std::string task;                 // "embedding", "rerank" or "classify"; empty: not served
  std::vector<std::string> routes;  // paths of HTTP that take texts
  std::string text;                 // one line: what is served by which routes, or why not
};

// The verdict of each folder, in their order. An empty `worker` means the mpsd-worker beside this
// program. Errors say why the worker gave no answer. Blocks for the worker's run. Thread-safe.
absl::StatusOr<std::vector<ConfigVerdict>> ConfigVerdicts(const std::vector<ConfigFolder>& folders,
                                                          const std::string& worker);

// The verdict from the worker's entry for a folder: its task and width, or an error. Pure.
ConfigVerdict VerdictOf(const nlohmann::json& entry, const std::vector<hub::HubFile>& files);

}  // namespace mpsd::cli
