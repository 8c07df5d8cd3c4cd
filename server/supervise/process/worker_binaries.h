// WorkerBinaries: which program runs the workers of a model.
//
//   mpsd-worker            models of all formats; links libtorch where the build has it
//   mpsd-worker-synthetic  synthetic models only; a build without libtorch has no need of it
//
// Both are made of the same sources. libtorch takes 0.2 s of a processor and 55 MB of each process
// that links it, before anything of a model is read: it registers its operators in the process's
// own heap, where no two processes can share them. A synthetic model uses nothing of that.
#pragma once

#include <string>

#include "proto/link/model_format.h"

namespace mpsd {

// Looks for the programs once, when it is made. Owned by the LocalWorkerHost, which asks at each
// spawn. Immutable, so thread-safe. Cannot fail: where the second program is missing the first one
// runs all models.
class WorkerBinaries {
 public:
  // What the name of the second program has more than that of the first.
  static constexpr char kSyntheticSuffix[] = "-synthetic";

  // `worker` is the path of mpsd-worker; the other program lies beside it.
  explicit WorkerBinaries(std::string worker);

  // The path of the program that runs models of this format.
  const std::string& For(ModelFormat format) const {
    return format == ModelFormat::kSynthetic ? synthetic_ : worker_;
  }

 private:
  const std::string worker_;
  const std::string synthetic_;  // `worker_` where there is no other
};

}  // namespace mpsd
