// OpenRegions: the clients' device memory that the copier has open, and the copies from and to it.
//
//   order    reads                        writes
//   kOpen    the order's handle           a new region
//   kRead    the region                   outbox, from its beginning
//   kWrite   inbox, from its beginning    the region
//   kClose                                forgets the region
//
// At most kMaxOpenRegions regions are open. An order is kBadOrder and has no effect if it would
// leave the region or either segment, names a region which is not open, or opens a region twice.
// After kLost the copier ends: the driver no longer answers this process.
//
// The front end keeps its own view of the regions (server/regions/device). If the copier dies, the
// front end opens them again in the next one.
#pragma once

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "copier/cuda_driver.h"
#include "proto/link/copier_records.h"

namespace mpsd {

// Checks each order against the regions and the segments before it calls the driver. The front end
// is trusted to mean well, but it may have bugs. `driver` and the segments outlive this object. The
// front end writes `inbox`, the copier writes `outbox`. Owned by the copier's main.
// Thread-compatible.
class OpenRegions {
 public:
  OpenRegions(CudaDriver* driver, absl::Span<const char> inbox, absl::Span<char> outbox)
      : driver_(driver), inbox_(inbox), outbox_(outbox) {}

  // Carries out one order other than kStart, and blocks until it is done. An order that contradicts
  // itself or the open regions does nothing and returns kBadOrder.
  DriverVerdict Perform(const CopyOrder& order);

 private:
  // Memory that the driver has open here. `bytes` may be less than the allocation has; copies stay
  // inside [pointer, pointer + bytes).
  struct Region {
    int64_t device = 0;
    DevicePointer pointer = 0;
    uint64_t bytes = 0;
  };

  // If the memory has fewer bytes than the order says, it is closed again: kTooSmall.
  DriverVerdict Open(const CopyOrder& order);
  DriverVerdict Close(uint64_t region);

  // Copies one piece, which lies inside the region and inside both segments.
  DriverVerdict Copy(const CopyOrder& order);

  CudaDriver* const driver_;
  const absl::Span<const char> inbox_;
  const absl::Span<char> outbox_;
  absl::flat_hash_map<uint64_t, Region> regions_;  // by the front end's number
};

}  // namespace mpsd
