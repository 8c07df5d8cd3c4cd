// How large slabs and the shared memory of a pool are: pure formulas over a model's spec.
#pragma once

#include <cstdint>

#include "absl/types/span.h"
#include "proto/link/model_spec.h"

namespace mpsd {

// Who asks for which size, in the order of a pool's life:
//
//   ModelFactory    SlabSegmentBytes()   the first segment, when the first worker has told its spec
//   RowAllocator    SlabRows()           a shape key's slabs, when its first request comes
//                   ExtentBytes()        the extent of a request that shares no slab
//   SlabGrowth      GrowthBytes()        each further segment
//   PoolQueue       MaxSlabBytes()       beyond this no further segment is asked for
//
// The same inputs give the same sizes, so that an operator can foretell what a model takes. Nothing
// here knows what memory there is: MemoryBudget decides that before a segment is made.
//
//   a row, of a model                    largest batch   SlabRows()
//   1 KiB,    FP32[256]                  8               32: four batches, 32 KiB
//   4 KiB,    two of INT64[256]          32              128: four batches, 512 KiB
//   588 KiB,  FP32[3,224,224]            8               8: one batch, 4.6 MiB, though 6 rows fill
//                                                        kSlabBytesTarget
//
// Pure functions, all thread-safe.

// How many such rows a slab has: four batches of the largest size if they fit into
// kSlabBytesTarget, else as many rows as fit, but at least one largest batch. 1 for a model that
// does not batch.
uint32_t SlabRows(const ModelSpec& spec, absl::Span<const uint64_t> row_bytes);

// The size that a dim without a bound is assumed to have: the spec says -1, and no padding rule has
// a largest bucket for it. A larger request may need a further segment.
inline constexpr int64_t kAssumedUnknownDim = 512;

// What may arrive for a model, and the page of the host.
struct ArrivalBounds {
  uint32_t queue_requests = 0;
  uint64_t queue_bytes = 0;
  uint64_t message_bytes = 0;  // no row of a model with open dims is assumed to be larger
  uint64_t page_bytes = 0;
};

// The slab segment of a pool: room for a queue full of largest requests and a few slabs, at least
// kMinSlabSegmentBytes, at most kMaxSlabSegmentBytes or one largest slab or the queue's byte limit.
// Where a dim has no bound, the largest slab is a guess: such a model gets at most
// kMaxSlabSegmentBytes, and its pool grows when a larger request comes.
inline constexpr uint64_t kMinSlabSegmentBytes = 4ULL << 20;
inline constexpr uint64_t kMaxSlabSegmentBytes = 128ULL << 20;
uint64_t SlabSegmentBytes(const ModelSpec& spec, const ArrivalBounds& bounds);

// The bytes of a further segment for a pool that has `have_bytes` and found no room for
// `needed_bytes`: as much again as there is, at most kMaxGrowthBytes, but room for `needed_bytes`.
// So 4 MiB become 8, 16, 32, 64 and 128 MiB, and then 64 MiB more each time.
inline constexpr uint64_t kMaxGrowthBytes = 64ULL << 20;
uint64_t GrowthBytes(uint64_t needed_bytes, uint64_t have_bytes, uint64_t page_bytes);

// The most that all segments of a pool take together: a full queue, as much again for batches that
// run or were abandoned, and the holes between.
uint64_t MaxSlabBytes(uint64_t first_segment_bytes, uint64_t queue_bytes);

// The bytes of an extent for one request: whole pages once it is larger than a slab should be, so
// that the holes between such extents are large enough for others.
uint64_t ExtentBytes(uint64_t bytes, uint64_t page_bytes);

}  // namespace mpsd
