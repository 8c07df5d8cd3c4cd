// ModelRepository: the models that lie in a folder as Triton's do:
// <model>/<version>/model.pt or model.pt2, with <model>/config.pbtxt if there is something to say.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "server/config/config.h"

namespace mpsd {

// What was found. Every version that is to be served is a model of its own.
struct FoundModels {
  std::vector<ModelConfig> models;
  std::vector<std::pair<std::string, std::string>> faults;  // model, why it cannot be served
  std::vector<std::pair<std::string, std::string>> notes;   // model, a key that makes no difference
};

// Thread-safe: constant after construction. Reads the folder each time that it is asked; called
// where a wait for a file system harms nobody, never on the request's path. What it finds lies in
// the folder: a link that leads out of it is refused.
class ModelRepository {
 public:
  // `folder` is absolute; empty: there are no models. Queues are held to `limits`.
  ModelRepository(std::string folder, const LimitsConfig& limits)
      : folder_(std::move(folder)), limits_(limits) {}

  // All models, in the order of their names; kMaxRepositoryModels at most.
  FoundModels ReadAll() const;

  // The versions of one. NOT_FOUND when there is no such model; INVALID_ARGUMENT when it is none
  // that can be served. REQUIRES: `name` is one that ServableNameFault() finds nothing wrong with.
  absl::StatusOr<FoundModels> Read(const std::string& name) const;

 private:
  absl::StatusOr<ModelConfig> ReadVersion(const ModelConfig& base,
                                          const std::string& file_name) const;

  const std::string folder_;
  const LimitsConfig limits_;
};

}  // namespace mpsd
