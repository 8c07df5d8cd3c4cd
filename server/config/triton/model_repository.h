// ModelRepository: the models in a folder that is laid out as Triton's:
// <model>/<version>/model.pt or model.pt2, and <model>/config.pbtxt if it is needed.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "server/config/config.h"

namespace mpsd {

// What the folder has. Each version that is served is a model of its own. A value.
struct FoundModels {
  std::vector<ModelConfig> models;
  std::vector<std::pair<std::string, std::string>> faults;  // a model, and why it cannot be served
  std::vector<std::pair<std::string, std::string>>
      notes;  // a model, and a key that makes no difference
};

// Reads the folder at each call, and may wait for the file system: never called on the request's
// path. Refuses links that lead out of the folder. Made by the reloader for one job. Thread-safe:
// constant after construction.
class ModelRepository {
 public:
  // `folder` is absolute, or empty: then there are no models. The queues of the models fit
  // `limits`.
  ModelRepository(std::string folder, const LimitsConfig& limits)
      : folder_(std::move(folder)), limits_(limits) {}

  // All models in the order of their names, at most kMaxRepositoryModels. A model with a fault is
  // only in `faults`.
  FoundModels ReadAll() const;

  // The versions of one model. NOT_FOUND if there is no such model, INVALID_ARGUMENT if it cannot
  // be served. REQUIRES: ServableNameFault(name) is empty.
  absl::StatusOr<FoundModels> Read(const std::string& name) const;

 private:
  absl::StatusOr<ModelConfig> ReadVersion(const ModelConfig& base,
                                          const std::string& file_name) const;

  const std::string folder_;
  const LimitsConfig limits_;
};

}  // namespace mpsd
