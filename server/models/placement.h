// Placement: where each model runs, in how many processes, lanes and threads. Pure.
//
//   processes   isolation: a crash takes one process; each holds the model's weights once more,
//               but on cuda (docs/decisions/0041-weights-once.md)
//   lanes       batches at the same time in one process, which share the weights
//   threads     cores that compute one inference together; shorter answers, not more of them
//
// Decided once for a generation, before its workers start.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "proto/link/runtime_kind.h"
#include "server/config/config.h"
#include "server/supervise/device_share.h"

namespace mpsd {

// A value.
struct Placement {
  std::vector<DeviceShare> processes;
  std::string device_note;  // the gpu that "auto" passed over, and why; or empty
  uint32_t lanes = 1;       // limit in each process: a model may bear fewer
  uint32_t threads = 1;     // limit for one inference
  uint32_t cores = 1;       // per process, shared by its lanes' inferences
  uint32_t lane_depth = 1;  // limit of batches on a lane
};

// Facts of HostSurvey. A value.
struct HostFacts {
  uint32_t cores = 1;                       // by affinity and cgroup
  std::string auto_device = "cpu";          // the meaning of "auto"
  uint32_t cuda_devices = 0;                // 0: none, or unknown
  std::string passed_over;                  // for Placement::device_note
  std::optional<RuntimeKind> runtime_kind;  // the worker's libtorch; none: unknown
  bool cuda_mps = false;                    // the CUDA Multi-Process Service runs
  uint64_t working_set_bytes = 0;           // the gpu's recommended maximum; 0: unknown
  std::vector<uint64_t> file_bytes;         // by model, for its weights; may be empty
  // Cores by memory node; fewer than two: no worker keeps to one.
  std::vector<std::vector<uint32_t>> nodes;
  std::vector<std::string> gpu_addresses;        // by CUDA device
  std::vector<std::optional<size_t>> gpu_nodes;  // by CUDA device: its place in `nodes`
};

// One placement for each of `models`, which are all that share the host. A number that a config
// sets never changes. A model that comes later does not move the others.
//   - cpu: models share the cores evenly, less one for the front end if there are more than two.
//     A model gets one process with up to eight lanes. An inference that runs alone gets up to
//     eight cores, or a lane's part if that is more. Models with a weight get the cores of all of
//     them, which they use in turns (ResourceTable).
//   - CUDA: one process with four lanes, or two processes with the CUDA Multi-Process Service; on
//     several devices so many on each, in turn. "cuda:all" on a host without any is "cuda".
//   - Apple's gpu: threads are not safe with a released libtorch, so there are processes of one
//     lane: two, if memory holds a third while one is replaced. A patched libtorch gets two lanes.
//   - Several memory nodes: a cpu model with more cores than a node gets a process for each.
//     Processes keep to a node, so that their memory is near, if each node gets as many processes
//     or models of one process. Otherwise the kernel moves them, and models with a weight. A
//     process on a CUDA device keeps to the device's node.
// Processes on a gpu get equal shares of its memory. A synthetic model is on the cpu. REQUIRES:
// host.cores > 0.
std::vector<Placement> DecidePlacements(absl::Span<const ModelConfig> models,
                                        const HostFacts& host);

}  // namespace mpsd
