// Placement: where each model runs, in how many processes, lanes and threads, where the config says
// "auto". Pure.
//
// Three numbers decide how much of a host a model uses, each at its own cost:
//
//   processes   isolation: a crash takes one process; each holds the model's weights once more,
//               but on cuda (docs/decisions/0041-weights-once.md)
//   lanes       batches at the same time in one process, which share the weights
//   threads     cores that compute one inference together; shorter answers, not more of them. Where
//               the config leaves them open, an inference that runs alone has those of idle lanes
//
// With "auto" the numbers suit the host as it is today. Decided once for a generation, before its
// workers start. The lanes are an upper bound, since a worker may find that its model cannot bear
// so many.
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

// One model's share. A value; ModelFactory puts it into the pool's options and the LoadOrder.
struct Placement {
  std::vector<DeviceShare> processes;  // at least one
  std::string device_note;             // the gpu that "auto" passed over, and why; else empty
  uint32_t lanes = 1;                  // in each process
  uint32_t threads = 1;                // limit for one inference
  uint32_t cores = 1;                  // per process, shared by its lanes' inferences
  uint32_t lane_depth = 1;             // limit of batches on a lane
};

// The decision's facts besides the config. A value; HostSurvey finds it out.
struct HostFacts {
  uint32_t cores = 1;                       // allowed by affinity and cgroup
  std::string auto_device = "cpu";          // the meaning of "auto", by a worker's word
  uint32_t cuda_devices = 0;                // by a worker's word; 0: none, or unknown
  std::string passed_over;                  // the gpu that "auto" does not mean, and why; or empty
  std::optional<RuntimeKind> runtime_kind;  // the worker's libtorch; none: unknown
  bool cuda_mps = false;                    // the CUDA Multi-Process Service runs
  uint64_t working_set_bytes = 0;           // the gpu's recommended maximum; 0: unknown
  std::vector<uint64_t> file_bytes;         // by model, for its weights; may be empty
  // The cores of each memory node; fewer than two where no worker is to keep to one.
  std::vector<std::vector<uint32_t>> nodes;
  std::vector<std::string> gpu_addresses;        // by CUDA device, by a worker's word
  std::vector<std::optional<size_t>> gpu_nodes;  // by CUDA device: its place in `nodes`
};

// Returns one placement for each model, in the same order. A number that a config sets never
// changes, even if the host is too small for it. `models` are all that share the host. A model that
// comes later is placed beside the others and does not move them.
//   - cpu: the models there share the cores evenly, less one for the front end. A model gets one
//     process with up to eight lanes, which share its cores by load. An inference that runs alone
//     gets up to eight cores, or a lane's part if that is more. On two cores none is kept for the
//     front end: it would be half of the host. Models with a weight are each placed on the cores of
//     all of them, which they use in turns (ResourceTable).
//   - CUDA: one process with four lanes, or two processes with the CUDA Multi-Process Service; on
//     several devices so many on each. The processes take the devices in turn, so a small number
//     uses the first devices. "cuda:all" on a host without any is "cuda".
//   - Apple's gpu: with a released libtorch threads are not safe there, so processes have one lane
//     each: two processes, if memory holds a third while one is replaced. With a patched libtorch
//     two lanes; a worker whose model cannot bear them reports one.
//   - Several memory nodes: a cpu model with more cores than a node gets a process for each.
//     Processes keep to one node each, so that their memory is near. That needs as many processes,
//     or as many models of one process, on each node. Otherwise the kernel moves them, as it moves
//     models with a weight. A process on a CUDA device keeps to the device's node.
// All processes on a gpu get equal shares of its memory. A synthetic model is on the cpu. REQUIRES:
// host.cores > 0.
std::vector<Placement> DecidePlacements(absl::Span<const ModelConfig> models,
                                        const HostFacts& host);

}  // namespace mpsd
