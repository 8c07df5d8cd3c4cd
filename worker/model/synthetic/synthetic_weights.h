// SyntheticWeights: numbers that a synthetic model does not use, for tests of sharing weights.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/fd.h"
#include "worker/model/sharing/device_memory.h"

namespace mpsd {

// The numbers are the same in each process. Owned by its model. Thread-compatible: Share() and
// Use() are called on the main thread, before any lane is bound.
class SyntheticWeights {
 public:
  explicit SyntheticWeights(uint64_t bytes);

  uint64_t bytes() const { return bytes_; }

  // As Model::ShareWeights() and UseWeights(), in memory of the host.
  absl::StatusOr<UniqueFd> Share();
  absl::Status Use(UniqueFd memory);

 private:
  const uint64_t bytes_;
  std::vector<char> own_;  // empty once shared
  std::unique_ptr<DeviceMemory> shared_;
};

}  // namespace mpsd
