// ConfigVerdict: what mpsd would make of a folder of Hugging Face's, from its small files alone.
//
//   the folders ─▶ mpsd-worker --configs ─▶ a line of JSON ─▶ a verdict for each
//
// A folder needs no weights and no tokenizer. Only the worker knows which configs it can serve.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/hub/hub_listing.h"

namespace mpsd::cli {

// `files` are the model's, in the folder or only at the hub.
struct ConfigFolder {
  std::string path;
  std::vector<hub::HubFile> files;
};

struct ConfigVerdict {
  std::string task;                 // "embedding", "rerank" or "classify"; empty: not served
  std::vector<std::string> routes;  // paths of HTTP that take texts
  std::string text;                 // one line: what the routes serve, or why not
};

// Verdicts come in the folders' order. An empty `worker` means mpsd-worker beside this program.
// Errors say why the worker gave no answer. Blocks. Thread-safe.
absl::StatusOr<std::vector<ConfigVerdict>> ConfigVerdicts(const std::vector<ConfigFolder>& folders,
                                                          const std::string& worker);

// The worker's entry has task and width, or an error. Pure.
ConfigVerdict VerdictOf(const nlohmann::json& entry, const std::vector<hub::HubFile>& files);

}  // namespace mpsd::cli
