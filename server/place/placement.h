// Placement: where each model runs, in how many processes, lanes and threads, where the config says
// "auto". Pure.
//
// Three numbers decide how much of a host a model uses, and each costs something else:
//
//   processes   isolation: a crash takes one process; each holds the model's weights once more,
//               but on cuda (docs/decisions/0041-weights-once.md)
//   lanes       batches at the same time in one process, which share the weights
//   threads     cores that compute one inference together; shorter answers, not more of them. Where
//               the config leaves them open, an inference that runs alone has those of idle lanes
//
// Most operators say "auto", and then get numbers that suit the host as it is today. Decided once
// for a generation, before its workers start; the lanes are an upper bound, since a worker may find
// that its model cannot bear so many.
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

// The share of one model. A value; ModelFactory puts it into the pool's options and the LoadOrder.
struct Placement {
  std::vector<DeviceShare> processes;  // at least one
  std::string device_note;  // why it is not another one; empty: the config names it, or none is
  uint32_t lanes = 1;       // of each process
  uint32_t threads = 1;     // of one inference, at most
  uint32_t cores = 1;       // of each process, which the inferences of its lanes share
  uint32_t lane_depth = 1;  // batches a lane has at most
};

// What the decision depends on, besides the config. A value; HostSurvey finds it out.
struct HostFacts {
  uint32_t cores = 1;                       // that affinity and cgroup allow this process
  std::string auto_device = "cpu";          // what "auto" means here, by a worker's word
  uint32_t cuda_devices = 0;                // that there are, by a worker's word; 0: or unknown
  std::string passed_over;                  // the gpu that "auto" does not mean, and why; or empty
  std::optional<RuntimeKind> runtime_kind;  // of the worker's libtorch; none: unknown
  bool cuda_mps = false;                    // the CUDA Multi-Process Service runs
  uint64_t working_set_bytes = 0;           // that the gpu recommends; 0: unknown
  std::vector<uint64_t> file_bytes;         // of each model, for its weights; may be empty
};

// Returns one placement for each model, in the same order. A number that a config sets is never
// changed, also where the host is too small for it. The models are all those that share the host: a
// model that comes later is placed beside them, but does not move them.
//   - cpu: the cores, less one for the front end, are shared evenly by the models on the cpu. A
//     model gets one process with up to eight lanes, which share its cores by load: an inference
//     that runs alone has up to eight of them, or a lane's part where that is more. Of two cores
//     none is kept for the front end, since half of the host would be. Models with a weight are
//     each placed on the cores of all of them, which they use in turns (ResourceTable).
//   - CUDA: one process with four lanes; two processes where the CUDA Multi-Process Service runs.
//     On several devices so many on each. The processes take the devices in turn, so fewer than
//     there are devices use the first ones. "cuda:all" on a host without any is "cuda".
//   - Apple's gpu: threads are not safe there with a released libtorch, so processes of one lane
//     each: two, if memory holds a third while one is replaced. With a patched libtorch two lanes;
//     a worker whose model cannot bear them reports one.
// All processes on a gpu get equal shares of its memory. A synthetic model is on the cpu. REQUIRES:
// host.cores > 0.
std::vector<Placement> DecidePlacements(absl::Span<const ModelConfig> models,
                                        const HostFacts& host);

}  // namespace mpsd
