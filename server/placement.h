// Placement: how many processes, lanes and threads a model gets where the config says "auto". Pure.
#pragma once

#include <cstdint>

#include "server/config.h"

namespace mpsd {

struct Placement {
  uint32_t processes = 1;
  uint32_t lanes = 1;
  uint32_t threads = 1;
  uint32_t lane_depth = 1;  // batches a lane has at most
};

// `cores` is what this host lets us use, shared evenly among `model_count` models. On a cpu one
// process with a lane for each core of its share, less the one that the front end needs; on a gpu
// one process with a few lanes; on Apple's, where threads are not safe in stock builds, processes
// of one lane each.
Placement DecidePlacement(const ModelConfig& model, uint32_t cores, uint32_t model_count);

}  // namespace mpsd
