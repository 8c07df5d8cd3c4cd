// HostSurvey: the host's facts for the placement of models.
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

// A driver's fault would take down the front end, so a worker is asked once about gpus:
//
//   HostSurvey ── spawns ──▶ mpsd-worker --devices
//              ◀── one line ── {"devices":["cpu"],"passed_over":"cuda: libcudnn.so.9: …",…}
//
// Keeps the answer, or its lack: a gpu that is plugged in later needs a restart. Owned by the
// daemon; the logger outlives it. Thread-safe.
class HostSurvey {
 public:
  // With `cuda_mps` several processes can use a CUDA device at once. `sysfs` tells of memory nodes.
  HostSurvey(std::string worker_binary, bool cuda_mps, Logger* logger, std::string sysfs = "/sys")
      : worker_binary_(std::move(worker_binary)),
        cuda_mps_(cuda_mps),
        logger_(logger),
        sysfs_(std::move(sysfs)) {}

  // `models` are all that share the host. If a placement depends on the devices and the host may
  // have a gpu, the first call blocks for up to a minute. If the worker fails the log says so, and
  // "auto" is the cpu from then on.
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

// A model on the cpu is placed without asking a worker. So is one on named CUDA devices, unless the
// host has several memory nodes. Pure.
bool DependsOnDevices(const ModelConfig& model, bool has_nodes);

// By model, of its file or its folder's weights; 0 if there is none. Asks the file system.
std::vector<uint64_t> FileBytes(absl::Span<const ModelConfig> models);

// Reads the line of `mpsd-worker --devices`: "auto" means the first device. False, with `host`
// unchanged, if the line is not understood. Pure.
bool ReadDevices(const std::string& line, HostFacts* host);

}  // namespace mpsd
