// ModelRepository: the models in a folder that is laid out as Triton's.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "server/config/config.h"

namespace mpsd {

// Each served version is a model of its own. A value.
struct FoundModels {
  std::vector<ModelConfig> models;  // complete, except for the sandbox's level
  std::vector<std::pair<std::string, std::string>> faults;  // a model, and why it cannot be served
  std::vector<std::pair<std::string, std::string>>
      notes;  // a model, and a key that makes no difference
};

// Reads such a folder:
//
//   models/                     the repository
//     resnet/                   a model; the folder is its name
//       config.pbtxt            Triton's configuration, if it is needed (triton_config.h)
//       labels.txt              the labels of an output's classes, if config.pbtxt names the file
//       1/model.pt              version 1: TorchScript
//       3/model.pt2             version 3: AOTInductor; the highest alone is served by default
//
// A user who may write there decides what the daemon runs. A client may not reach further: names
// with a path and links that lead out are refused. Names with a dot in front and versions that are
// no plain number are skipped.
//
// Reads the folder at each call, so never on the request's path; config.pbtxt and label files have
// at most 1 MiB each. A worker opens the model's file, in its sandbox. The reloader makes one for
// each job. Thread-safe: constant after construction.
class ModelRepository {
 public:
  // `folder` is absolute, or empty for no models. The queues fit `limits`.
  ModelRepository(std::string folder, const LimitsConfig& limits)
      : folder_(std::move(folder)), limits_(limits) {}

  // Sorted by name, each with its highest version first, at most kMaxRepositoryModels. A model with
  // a fault is only in `faults`. An unreadable folder has no models; the
  // config refuses one.
  FoundModels ReadAll() const;

  // The versions of a model that its configuration wants, at most 64; one that cannot be served
  // fails all. NOT_FOUND if there is no such model. INVALID_ARGUMENT or PERMISSION_DENIED names the
  // key or file, and no path. REQUIRES: ServableNameFault(name) is empty.
  absl::StatusOr<FoundModels> Read(const std::string& name) const;

 private:
  // From the model's folder `warmup`.
  absl::Status ReadWarmUpData(const std::vector<std::vector<std::string>>& files,
                              ModelConfig* model) const;
  absl::StatusOr<ModelConfig> ReadVersion(const ModelConfig& base,
                                          const std::string& file_name) const;

  const std::string folder_;  // empty: the config names none
  const LimitsConfig limits_;
};

}  // namespace mpsd
