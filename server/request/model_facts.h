// ModelFacts: how a model is run, for the answer to ModelConfig.
#pragma once

#include <cstdint>
#include <string>

namespace mpsd {

// Decided by the model's config and its placement. Constant once the model is in the directory.
struct ModelFacts {
  std::string backend;  // "pytorch", "synthetic"
  std::string device;   // "cpu", "cuda:0", "mps"
  uint32_t processes = 1;
  uint32_t lanes = 1;  // of a process
  int64_t max_delay_ns = 0;
  uint32_t queue_requests = 0;
};

}  // namespace mpsd
