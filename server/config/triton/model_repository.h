// ModelRepository: the models in a folder that is laid out as Triton's.
//
//   models/                     the repository
//     resnet/                   a model; the folder is its name
//       config.pbtxt            Triton's configuration, if it is needed (triton_config.h)
//       labels.txt              the labels of an output's classes, if config.pbtxt names the file
//       1/model.pt              version 1: TorchScript
//       3/model.pt2             version 3: AOTInductor; the highest alone is served by default
//
// A user who may write here decides what the daemon runs. A client that may only load models must
// not be able to reach further: names with a path in them are refused, and so are links that lead
// out of the folder. Names that begin with a dot, and versions that are no plain number, are left
// alone.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "server/config/config.h"

namespace mpsd {

// The contents of the folder. Each version that is served is a model of its own. A fault of one
// model takes nothing from the others. A value.
struct FoundModels {
  std::vector<ModelConfig> models;  // as complete as those of a config, but for the sandbox's level
  std::vector<std::pair<std::string, std::string>> faults;  // a model, and why it cannot be served
  std::vector<std::pair<std::string, std::string>>
      notes;  // a model, and a key that makes no difference
};

// Reads the folder at each call, and may wait for the file system: never called on the request's
// path. Made by the reloader for one job: all models at the start and at a reload, one model when a
// client loads it. Looks at names and sizes and reads config.pbtxt and files of labels (1 MiB each
// at most), but never opens a model's file: a worker does, in its sandbox. Thread-safe: constant
// after construction.
class ModelRepository {
 public:
  // `folder` is absolute, or empty: then there are no models. The queues of the models fit
  // `limits`.
  ModelRepository(std::string folder, const LimitsConfig& limits)
      : folder_(std::move(folder)), limits_(limits) {}

  // All models in the order of their names, the highest version of each first, at most
  // kMaxRepositoryModels in all. A model with a fault is only in `faults`. A folder that cannot be
  // read has no models.
  FoundModels ReadAll() const;

  // The versions of one model that its configuration wants served, at most 64. NOT_FOUND if there
  // is no such model, INVALID_ARGUMENT or PERMISSION_DENIED if it cannot be served: the message
  // names the key or the file, and no path. One version that cannot be served makes the model fail.
  // REQUIRES: ServableNameFault(name) is empty.
  absl::StatusOr<FoundModels> Read(const std::string& name) const;

 private:
  // Reads the data of the model's warm-up, from its folder `warmup`.
  absl::Status ReadWarmUpData(const std::vector<std::vector<std::string>>& files,
                              ModelConfig* model) const;
  absl::StatusOr<ModelConfig> ReadVersion(const ModelConfig& base,
                                          const std::string& file_name) const;

  const std::string folder_;  // empty: the config names no repository
  const LimitsConfig limits_;
};

}  // namespace mpsd
