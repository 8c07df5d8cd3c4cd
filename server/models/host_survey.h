// HostSurvey: the host's facts that the placement of models depends on.
//
// The front end never links torch and never opens a device: a fault of a driver would take down the
// process that holds all clients. So a worker is asked once about gpus, and then ends:
//
//   HostSurvey ── spawns ──▶ mpsd-worker --devices
//              ◀── one line ── {"devices":["cpu"],"passed_over":"cuda: libcudnn.so.9: …",…}
//
// The operating system says cores and memory, at each question.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "server/config/config.h"
#include "server/models/placement.h"
#include "server/telemetry/log/log.h"

namespace mpsd {

// The model factory asks it before each model's start; never on a request's path. Owned by the
// daemon; the logger outlives it. Remembers what a worker said about the devices, even if it said
// nothing: a gpu that is plugged in later needs a restart of the daemon. DecidePlacements()
// decides. Thread-safe; a thread that asks while another one waits for the worker waits too.
class HostSurvey {
 public:
  // With `cuda_mps` several processes can use a CUDA device at the same time. `sysfs` is where the
  // kernel tells of memory nodes.
  HostSurvey(std::string worker_binary, bool cuda_mps, Logger* logger, std::string sysfs = "/sys")
      : worker_binary_(std::move(worker_binary)),
        cuda_mps_(cuda_mps),
        logger_(logger),
        sysfs_(std::move(sysfs)) {}

  // The facts for placing these models, which are all that share the host. The first time that a
  // placement depends on the devices and the host may have a gpu, it runs `mpsd-worker --devices`
  // and blocks for up to a minute. If that fails the log says so, and "auto" is the cpu from then
  // on. The log also says which gpu "auto" passes over, and why.
  HostFacts FactsFor(absl::Span<const ModelConfig> models) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void AskWorker() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::string worker_binary_;
  const bool cuda_mps_;
  Logger* const logger_;
  const std::string sysfs_;

  absl::Mutex mu_;  // held while the worker is asked
  bool asked_ ABSL_GUARDED_BY(mu_) = false;
  HostFacts devices_ ABSL_GUARDED_BY(mu_);
};

// Whether the model's placement depends on the host's devices. A model on the cpu is placed without
// asking a worker. So is one on CUDA devices that its config names, except where the host has
// several memory nodes. Pure.
bool DependsOnDevices(const ModelConfig& model, bool has_nodes);

// The size of each model's file, or of its folder's weight files, as a measure of its weights'
// memory; 0 if there is none. Asks the file system.
std::vector<uint64_t> FileBytes(absl::Span<const ModelConfig> models);

// Reads the line that `mpsd-worker --devices` writes into `host`: "auto" means the first device,
// and CUDA devices are counted, with their addresses. False, with `host` unchanged, if the line is
// not understood. Pure.
bool ReadDevices(const std::string& line, HostFacts* host);

}  // namespace mpsd
