// SlabTable: the slabs of one pool's segments, which of their rows are in use, and when one is
// free.
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

// An arena of rows, handed out in the order of arrival. It has one region for each input, 64-byte
// aligned, of `row_capacity` rows; a request's rows have the same numbers in each region.
struct Slab {
  uint32_t segment = 0;
  uint64_t offset = 0;
  uint64_t bytes = 0;  // 0: this table entry is unused
  uint32_t row_capacity = 0;
  uint32_t next_row = 0;   // rows from here on were never reserved
  uint32_t live_rows = 0;  // reserved and not yet ended
  bool open = false;       // takes further rows
};

// One segment as a worker is told of it.
struct SlabSegment {
  uint32_t number = 0;
  int fd = -1;  // owned by the table
  uint64_t bytes = 0;
};

// The slabs of one pool (step 4 of a request's life). Owned by its batcher. Thread-compatible:
// guarded by the pool's mutex. It knows rows by their count, not by their request.
//
// Legal life of a slab:
//   free → open (Lease) → closed (Close) → free, when its last row has ended;
//   an open slab without a live row begins again at row 0.
// Legal life of a segment:
//   absent → serving (AddSegment) → retiring (RetireIdle) → absent (RemoveSegment).
//
// Invariants, which CheckInvariants() holds it to:
//  1. A slab's live rows are among its reserved ones: live_rows ≤ next_row ≤ row_capacity.
//  2. A closed slab has a live row.
//  3. Slabs are leased in serving segments only; a retiring one holds none.
//  4. Slabs do not overlap, and lie within their segment, behind its header.
class SlabTable {
 public:
  // Takes a segment over. REQUIRES: the number is below kMaxSlabSegments and absent.
  void AddSegment(OwnedSegment segment, uint32_t number);

  // Retires the first segment, number 0 excepted, that held no slab at this call and the
  // `idle_calls` - 1 calls before. Nothing when there is none.
  std::optional<uint32_t> RetireIdle(uint32_t idle_calls);

  // Gives a segment back; its number is absent. REQUIRES: the segment is retiring.
  OwnedSegment RemoveSegment(uint32_t number);

  // Leases a slab of `row_capacity` rows whose regions take `bytes` in all, and opens it.
  // RESOURCE_EXHAUSTED when there is no room.
  absl::StatusOr<uint32_t> Lease(uint64_t bytes, uint32_t row_capacity);

  // Reserves `rows` rows at the end of a slab. False when they do not fit. REQUIRES: it is open.
  bool Reserve(uint32_t slab, uint32_t rows, uint32_t* first_row);

  // Ends rows that were reserved. Frees the slab when it is closed and they were the last.
  // REQUIRES: as many rows are live.
  void EndRows(uint32_t slab, uint32_t rows);

  // The slab takes no further rows. Frees it at once when no row is live. REQUIRES: it is open.
  void Close(uint32_t slab);

  // The address of row `row` of the input whose region begins `region_offset` bytes into the slab.
  char* Address(uint32_t slab, uint64_t region_offset, uint32_t row, uint64_t row_bytes) const;

  // The segments that are serving or retiring, in the order of their numbers.
  std::vector<SlabSegment> Segments() const;
  uint64_t segment_bytes() const { return segment_bytes_; }
  uint32_t segment_count() const { return segment_count_; }
  uint64_t first_segment_bytes() const;  // of number 0, which stays; 0 until it is added

  const Slab& slab(uint32_t index) const { return slabs_[index]; }
  uint32_t leased_count() const { return leased_count_; }
  uint32_t open_count() const;
  uint64_t live_rows() const;

  // Bytes of a slab of `row_capacity` such rows, with each input's region rounded up.
  static uint64_t Bytes(absl::Span<const uint64_t> row_bytes, uint32_t row_capacity);

  // Bytes of the region of an input of `rows` rows.
  static uint64_t RegionBytes(const RequestInput& input, uint32_t rows);

  // CHECKs the class's invariants, and that its counts are what they count. Slow: for tests.
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
  std::vector<uint32_t> unused_;  // table entries
  uint32_t leased_count_ = 0;
};

}  // namespace mpsd
