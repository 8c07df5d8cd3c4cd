// Placement: where each model runs, in how many processes, lanes and threads, where the config says
// "auto". Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "proto/link/runtime_kind.h"
#include "server/config/config.h"

namespace mpsd {

struct Placement {
  std::string device = "cpu";  // never "auto"
  uint32_t processes = 1;
  uint32_t lanes = 1;
  uint32_t threads = 1;
  uint32_t lane_depth = 1;            // batches a lane has at most
  uint32_t memory_share_percent = 0;  // of the device's memory, for each process; 0: not divided
};

// What of this host decides.
struct HostFacts {
  uint32_t cores = 1;                       // that affinity and cgroup leave us
  std::string auto_device = "cpu";          // what a worker says that "auto" is here
  std::optional<RuntimeKind> runtime_kind;  // of the libtorch that it runs on, if known
  bool cuda_mps = false;                    // the CUDA Multi-Process Service is there
  uint64_t working_set_bytes = 0;           // that the gpu recommends; 0: unknown
  std::vector<uint64_t> file_bytes;         // of each model, for its weights; may be empty
};

// One placement a model. The cores are one budget for the whole host, less the one that the front
// end needs, shared evenly by the models on the cpu; what is left of a model's share beside its
// lanes makes each run faster. On a gpu one process with a few lanes, two where the CUDA
// Multi-Process Service lets them run at once. On Apple's, where threads are not safe in released
// builds, processes of one lane each, two if the memory bears one more than that while one is
// replaced; with a patched build two lanes, of which a worker takes back one that its model cannot
// bear.
std::vector<Placement> DecidePlacements(absl::Span<const ModelConfig> models,
                                        const HostFacts& host);

}  // namespace mpsd
