// ModelRepository: the models in a folder that is laid out as Triton's.
//
//   models/                     the repository
//     resnet/                   a model; the folder is its name
//       config.pbtxt            Triton's configuration, if it is needed (triton_config.h)
//       labels.txt              the labels of an output's classes, if config.pbtxt names the file
//       1/model.pt              version 1: TorchScript
//       3/model.pt2             version 3: AOTInductor; the highest alone is served by default
//
// A user who may write to this folder decides what the daemon runs. A client that may only load
// models must not reach further: names with a path in them are refused, and so are links that lead
// out of the folder. Names that begin with a dot are skipped, and so are versions that are no plain
// number.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "server/config/config.h"

namespace mpsd {

// The contents of the folder. Each served version is a model of its own. A fault of one model does
// not affect the others. A value.
struct FoundModels {
  std::vector<ModelConfig> models;  // complete, except for the sandbox's level
  std::vector<std::pair<std::string, std::string>> faults;  // a model, and why it cannot be served
  std::vector<std::pair<std::string, std::string>>
      notes;  // a model, and a key that makes no difference
};

// Reads the folder at each call and may wait for the file system, so it is never called on the
// request's path. The reloader makes one for each job: for all models at the start and at a reload,
// for one model when a client loads it. Looks at names and sizes, and reads config.pbtxt and label
// files (at most 1 MiB each). Never opens a model's file: a worker does, in its sandbox.
// Thread-safe: constant after construction.
class ModelRepository {
 public:
  // `folder` is absolute, or empty for no models. The queues of the models fit `limits`.
  ModelRepository(std::string folder, const LimitsConfig& limits)
      : folder_(std::move(folder)), limits_(limits) {}

  // All models sorted by name, each with its highest version first, at most kMaxRepositoryModels. A
  // model with a fault is only in `faults`. An unreadable folder has no models.
  FoundModels ReadAll() const;

  // The versions of one model that its configuration wants served, at most 64. NOT_FOUND if there
  // is no such model, INVALID_ARGUMENT or PERMISSION_DENIED if it cannot be served: the message
  // names the key or the file, and no path. If one version cannot be served, the whole model fails.
  // REQUIRES: ServableNameFault(name) is empty.
  absl::StatusOr<FoundModels> Read(const std::string& name) const;

 private:
  // Reads the data of the warm-up samples from the model's folder `warmup`.
  absl::Status ReadWarmUpData(const std::vector<std::vector<std::string>>& files,
                              ModelConfig* model) const;
  absl::StatusOr<ModelConfig> ReadVersion(const ModelConfig& base,
                                          const std::string& file_name) const;

  const std::string folder_;  // empty: the config names no repository
  const LimitsConfig limits_;
};

}  // namespace mpsd
