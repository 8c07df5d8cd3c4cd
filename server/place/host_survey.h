// HostSurvey: finds out about the host what the placement of models depends on.
//
// The front end never links torch and never opens a device: the first process that a fault of a
// driver takes down would be the one that holds all clients. So what there is of gpus a worker is
// asked, once, which then ends:
//
//   HostSurvey ── spawns ──▶ mpsd-worker --devices
//              ◀── one line ── {"devices":["cpu"],"passed_over":"cuda: libcudnn.so.9: …",…}
//
// Cores and memory come from the operating system, at each question.
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

// Asked by the model factory before each model's start; never on a request's path. Owned by the
// daemon; the logger outlives it. Remembers what a worker said about the devices, also that it said
// nothing: a gpu that is plugged in later needs a restart of the daemon. Decides nothing:
// DecidePlacements() does. Thread-safe; a thread that asks while another one waits for the worker
// waits too.
class HostSurvey {
 public:
  // `cuda_mps`: several processes can be on a CUDA device at the same time.
  HostSurvey(std::string worker_binary, bool cuda_mps, Logger* logger)
      : worker_binary_(std::move(worker_binary)), cuda_mps_(cuda_mps), logger_(logger) {}

  // The facts by which to place these models, which are all that share the host. Runs `mpsd-worker
  // --devices`, and blocks for up to a minute, when a placement depends on the devices for the
  // first time and the host may have a gpu. When that fails the log says so, and "auto" is the cpu
  // from then on. The log also says which gpu "auto" passes over, and why.
  HostFacts FactsFor(absl::Span<const ModelConfig> models) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void AskWorker() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::string worker_binary_;
  const bool cuda_mps_;
  Logger* const logger_;

  absl::Mutex mu_;  // held while the worker is asked
  bool asked_ ABSL_GUARDED_BY(mu_) = false;
  HostFacts devices_ ABSL_GUARDED_BY(mu_);
};

// True when the model's placement depends on the devices of the host: a model on the cpu, or on
// CUDA devices that its config names, is placed without asking a worker. Pure.
bool DependsOnDevices(const ModelConfig& model);

// The size of each model's file, or of the weight files of its folder, which stands for the memory
// of its weights; 0 where there is none. Asks the file system.
std::vector<uint64_t> FileBytes(absl::Span<const ModelConfig> models);

// Reads the line that `mpsd-worker --devices` writes into `host`: the first device of its list is
// what "auto" means, and those of CUDA are counted. False when the line is not understood; `host`
// is unchanged then. Pure.
bool ReadDevices(const std::string& line, HostFacts* host);

}  // namespace mpsd
