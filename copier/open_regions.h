// OpenRegions: the clients' device memory that the copier has open, and what is done with it.
#pragma once

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "copier/cuda_driver.h"
#include "proto/link/copier_records.h"

namespace mpsd {

// Thread-compatible. `driver` outlives it, and so do the segments: `inbox` has what the front end
// wrote, `outbox` is ours to write.
class OpenRegions {
 public:
  OpenRegions(CudaDriver* driver, absl::Span<const char> inbox, absl::Span<char> outbox)
      : driver_(driver), inbox_(inbox), outbox_(outbox) {}

  // Carries out one order other than kStart. An order that cannot be is answered, and does nothing.
  DriverVerdict Perform(const CopyOrder& order);

 private:
  struct Region {
    int64_t device = 0;
    DevicePointer pointer = 0;
    uint64_t bytes = 0;
  };

  DriverVerdict Open(const CopyOrder& order);
  DriverVerdict Close(uint64_t region);
  DriverVerdict Copy(const CopyOrder& order);

  CudaDriver* const driver_;
  const absl::Span<const char> inbox_;
  const absl::Span<char> outbox_;
  absl::flat_hash_map<uint64_t, Region> regions_;
};

}  // namespace mpsd
