// ShareableWeights: a model's weights, which its other workers can use too.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/fd.h"

namespace mpsd {

// Part of a model. Thread-compatible: called on the main thread, before any lane is bound. After an
// error the model keeps its own weights. RESOURCE_EXHAUSTED: no room for a second copy. DATA_LOSS:
// the device is lost.
class ShareableWeights {
 public:
  virtual ~ShareableWeights() = default;

  // Shareable bytes in the device's memory, at least 1. Constant.
  virtual uint64_t bytes() const = 0;

  // Moves the weights to memory that other processes can map.
  virtual absl::StatusOr<UniqueFd> Share() = 0;

  // Maps another worker's memory in place of the own weights. FAILED_PRECONDITION: the weights
  // differ, or cannot be mapped here.
  virtual absl::Status Use(UniqueFd memory) = 0;
};

}  // namespace mpsd
