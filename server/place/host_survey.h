// HostSurvey: looks at the host when models are placed on it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "server/config/config.h"
#include "server/place/placement.h"
#include "server/telemetry/log/log.h"

namespace mpsd {

// Thread-safe. Owned by the model factory, which asks it before each model's start; the logger
// outlives it. Never touches a device itself: only a worker has libtorch.
class HostSurvey {
 public:
  // `cuda_mps`: several processes can be on a CUDA device at the same time.
  HostSurvey(std::string worker_binary, bool cuda_mps, Logger* logger)
      : worker_binary_(std::move(worker_binary)), cuda_mps_(cuda_mps), logger_(logger) {}

  // What these models are placed by. A worker is asked what it can run on, once and for seconds,
  // by the first models whose placement depends on it, and only where there may be a gpu. One
  // that says nothing within its time leaves "auto" to be the cpu, with a line in the log.
  HostFacts FactsFor(absl::Span<const ModelConfig> models) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void AskWorker() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::string worker_binary_;
  const bool cuda_mps_;
  Logger* const logger_;

  absl::Mutex mu_;
  bool asked_ ABSL_GUARDED_BY(mu_) = false;
  HostFacts devices_ ABSL_GUARDED_BY(mu_);
};

// Whether where and how the model runs depends on the devices of the host. Pure.
bool DependsOnDevices(const ModelConfig& model);

// Of each model's file; 0 where there is none.
std::vector<uint64_t> FileBytes(absl::Span<const ModelConfig> models);

// The facts of what `mpsd-worker --devices` wrote. Pure; false when it is nothing that we know.
bool ReadDevices(const std::string& line, HostFacts* host);

}  // namespace mpsd
