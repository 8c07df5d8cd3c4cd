// SlabTable: the slabs in one pool's segments, and which of their rows are in use.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "proto/shm/layout.h"
#include "proto/shm/segment.h"
#include "server/request/request.h"

namespace mpsd {

// An arena of rows, handed out in order: one region per input, 64-byte aligned, of `row_capacity`
// rows. A request's rows have the same indices in each region.
struct Slab {
  uint32_t segment = 0;
  uint64_t offset = 0;
  uint64_t bytes = 0;  // 0: this table entry is unused
  uint32_t row_capacity = 0;
  uint32_t next_row = 0;  // first row that was never reserved
  uint32_t live_rows = 0;
  bool open = false;  // takes further rows
};

// A segment as workers are told of it.
struct SlabSegment {
  uint32_t number = 0;
  int fd = -1;  // owned by the table
  uint64_t bytes = 0;
};

// Owned by a pool's batcher. Thread-compatible: the pool's mutex guards it.
//
// Legal life of a slab:
//   free → open (Lease) → closed (Close) → free, when its last row has ended;
//   an open slab without a live row begins again at row 0.
// Legal life of a segment:
//   absent → serving (AddSegment) → retiring (RetireIdle) → absent (RemoveSegment).
//
// Invariants:
//  1. A slab's live rows are among its reserved ones: live_rows ≤ next_row ≤ row_capacity.
//  2. A closed slab has a live row.
//  3. Slabs are leased in serving segments only; a retiring one holds none.
//  4. Slabs do not overlap, and lie within their segment, behind its header.
class SlabTable {
 public:
  // REQUIRES: the number is below kMaxSlabSegments and absent.
  void AddSegment(OwnedSegment segment, uint32_t number);

  // Retires the first segment that held no slab at this and the last `idle_calls` - 1 calls; never
  // number 0.
  std::optional<uint32_t> RetireIdle(uint32_t idle_calls);

  // REQUIRES: the segment is retiring.
  OwnedSegment RemoveSegment(uint32_t number);

  // The regions take `bytes` in all. RESOURCE_EXHAUSTED if there is no room.
  absl::StatusOr<uint32_t> Lease(uint64_t bytes, uint32_t row_capacity);

  // False if the rows do not fit. REQUIRES: the slab is open.
  bool Reserve(uint32_t slab, uint32_t rows, uint32_t* first_row);

  // REQUIRES: at least `rows` rows are live.
  void EndRows(uint32_t slab, uint32_t rows);

  // The slab takes no more rows. REQUIRES: it is open.
  void Close(uint32_t slab);

  // `region_offset`: where the input's region begins in the slab.
  char* Address(uint32_t slab, uint64_t region_offset, uint32_t row, uint64_t row_bytes) const;

  // The list has retiring segments too, by number.
  std::vector<SlabSegment> Segments() const;
  uint64_t segment_bytes() const { return segment_bytes_; }
  uint32_t segment_count() const { return segment_count_; }
  uint64_t first_segment_bytes() const;  // segment 0, which never retires; 0 until it is added

  const Slab& slab(uint32_t index) const { return slabs_[index]; }
  uint32_t leased_count() const { return leased_count_; }
  uint32_t open_count() const;
  uint64_t live_rows() const;

  // Each input's region is rounded up.
  static uint64_t Bytes(absl::Span<const uint64_t> row_bytes, uint32_t row_capacity);

  static uint64_t RegionBytes(const RequestInput& input, uint32_t rows);

  // Slow: for tests.
  void CheckInvariants() const;

 private:
  struct Segment {
    explicit Segment(OwnedSegment owned);

    OwnedSegment memory;
    ExtentAllocator extents;
    uint32_t idle_calls = 0;
    bool retiring = false;
  };

  void Free(uint32_t slab);

  std::vector<std::unique_ptr<Segment>> segments_;  // by number; null: absent
  uint64_t segment_bytes_ = 0;
  uint32_t segment_count_ = 0;
  std::vector<Slab> slabs_;
  std::vector<uint32_t> unused_;
  uint32_t leased_count_ = 0;
};

}  // namespace mpsd
