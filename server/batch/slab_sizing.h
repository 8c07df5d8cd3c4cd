// How large slabs and the shared memory of a pool are: pure formulas over a model's spec.
#pragma once

#include <cstdint>

#include "absl/types/span.h"
#include "proto/link/model_spec.h"

namespace mpsd {

// How many such rows a slab has: four batches of the largest size if they fit into
// kSlabBytesTarget, else as many rows as fit, but at least one largest batch.
uint32_t SlabRows(const ModelSpec& spec, absl::Span<const uint64_t> row_bytes);

// The size that a dim without a bound is assumed to have.
inline constexpr int64_t kAssumedUnknownDim = 512;

// The slab segment of a pool: room for a queue full of largest requests and a few slabs, at least
// kMinSlabSegmentBytes, at most kMaxSlabSegmentBytes or one largest slab or the queue's byte limit.
inline constexpr uint64_t kMinSlabSegmentBytes = 4ULL << 20;
inline constexpr uint64_t kMaxSlabSegmentBytes = 128ULL << 20;
uint64_t SlabSegmentBytes(const ModelSpec& spec, uint32_t queue_requests, uint64_t queue_bytes,
                          uint64_t page_bytes);

// The bytes of a further segment for a pool that has `have_bytes` and found no room for
// `needed_bytes`: as much again as there is, at most kMaxGrowthBytes, but room for `needed_bytes`.
inline constexpr uint64_t kMaxGrowthBytes = 64ULL << 20;
uint64_t GrowthBytes(uint64_t needed_bytes, uint64_t have_bytes, uint64_t page_bytes);

// The most that all segments of a pool take together: a full queue, as much again for batches that
// run or were abandoned, and the holes between.
uint64_t MaxSlabBytes(uint64_t first_segment_bytes, uint64_t queue_bytes);

// The bytes of an extent for one request: whole pages once it is larger than a slab should be, so
// that the holes between such extents are large enough for others.
uint64_t ExtentBytes(uint64_t bytes, uint64_t page_bytes);

}  // namespace mpsd
