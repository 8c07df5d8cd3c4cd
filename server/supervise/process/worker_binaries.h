// WorkerBinaries: which program runs the workers of a model.
//
//   mpsd-worker            models of all formats; links libtorch where the build has it
//   mpsd-worker-synthetic  synthetic models only; a build without libtorch has no need of it
//
// Both are made of the same sources. Linking libtorch costs a process 0.2 s of a processor and 55
// MB before it reads a model: libtorch registers its operators in the process's own heap, where
// processes cannot share them. A synthetic model uses none of that.
#pragma once

#include <string>

#include "proto/link/model_format.h"

namespace mpsd {

// Looks for the programs once, in the constructor. Owned by the LocalWorkerHost, which asks at each
// spawn. Immutable, so thread-safe. Without the second program the first one runs all models.
class WorkerBinaries {
 public:
  // Suffix of the second program's name.
  static constexpr char kSyntheticSuffix[] = "-synthetic";

  // `worker` is the path of mpsd-worker; the other program lies beside it.
  explicit WorkerBinaries(std::string worker);

  const std::string& For(ModelFormat format) const {
    return format == ModelFormat::kSynthetic ? synthetic_ : worker_;
  }

 private:
  const std::string worker_;
  const std::string synthetic_;  // `worker_` if there is no other
};

}  // namespace mpsd
