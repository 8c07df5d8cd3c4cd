// Sizes of slabs and of a pool's shared memory.
#pragma once

#include <cstdint>

#include "absl/types/span.h"
#include "proto/link/model_spec.h"

namespace mpsd {

// Equal inputs give equal sizes, so an operator can predict a model's memory.
//
//   a row, of a model                    largest batch   SlabRows()
//   1 KiB,    FP32[256]                  8               32: four batches, 32 KiB
//   4 KiB,    two of INT64[256]          32              128: four batches, 512 KiB
//   588 KiB,  FP32[3,224,224]            8               8: one batch, 4.6 MiB, though 6 rows fill
//                                                        kSlabBytesTarget
//
// Pure functions, all thread-safe.

// Four batches of the largest size if they fit into kSlabBytesTarget, else as many rows as fit; at
// least one largest batch. 1 for a model that does not batch.
uint32_t SlabRows(const ModelSpec& spec, absl::Span<const uint64_t> row_bytes);

// For a dim without a bound: the spec says -1, and no padding rule has a largest bucket.
inline constexpr int64_t kAssumedUnknownDim = 512;

struct ArrivalBounds {
  uint32_t queue_requests = 0;
  uint64_t queue_bytes = 0;
  uint64_t message_bytes = 0;  // largest assumed row of a model with open dims
  uint64_t page_bytes = 0;
};

// The first slab segment: room for a queue full of largest requests and two more slabs. At least
// one largest slab, at most the queue's byte limit. If a dim has no bound, the segment has at most
// kMaxSlabSegmentBytes, and the pool grows for larger requests.
inline constexpr uint64_t kMinSlabSegmentBytes = 4ULL << 20;
inline constexpr uint64_t kMaxSlabSegmentBytes = 128ULL << 20;
uint64_t SlabSegmentBytes(const ModelSpec& spec, const ArrivalBounds& bounds);

// For a pool that has `have_bytes` and found no room for `needed_bytes`. Doubles the memory, by at
// most kMaxGrowthBytes, but always holds `needed_bytes`.
inline constexpr uint64_t kMaxGrowthBytes = 64ULL << 20;
uint64_t GrowthBytes(uint64_t needed_bytes, uint64_t have_bytes, uint64_t page_bytes);

// A full queue, the same again for running or abandoned batches, and the holes between.
uint64_t MaxSlabBytes(uint64_t first_segment_bytes, uint64_t queue_bytes);

// Above kSlabBytesTarget the size is whole pages, so that the holes between such extents are large
// enough for others.
uint64_t ExtentBytes(uint64_t bytes, uint64_t page_bytes);

}  // namespace mpsd
