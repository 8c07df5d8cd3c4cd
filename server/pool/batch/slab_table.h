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

// An arena of rows, handed out in order. It has one region per input, 64-byte aligned, of
// `row_capacity` rows. A request's rows have the same indices in each region.
struct Slab {
  uint32_t segment = 0;
  uint64_t offset = 0;
  uint64_t bytes = 0;  // 0: this table entry is unused
  uint32_t row_capacity = 0;
  uint32_t next_row = 0;   // rows from here on were never reserved
  uint32_t live_rows = 0;  // reserved and not yet ended
  bool open = false;       // takes further rows
};

// One segment as workers are told about it.
struct SlabSegment {
  uint32_t number = 0;
  int fd = -1;  // owned by the table
  uint64_t bytes = 0;
};

// The slabs of one pool (step 4 of a request's life). Owned by its batcher. Thread-compatible:
// guarded by the pool's mutex. It counts rows, and does not know their requests.
//
// Legal life of a slab:
//   free → open (Lease) → closed (Close) → free, when its last row has ended;
//   an open slab without a live row begins again at row 0.
// Legal life of a segment:
//   absent → serving (AddSegment) → retiring (RetireIdle) → absent (RemoveSegment).
//
// Invariants, checked by CheckInvariants():
//  1. A slab's live rows are among its reserved ones: live_rows ≤ next_row ≤ row_capacity.
//  2. A closed slab has a live row.
//  3. Slabs are leased in serving segments only; a retiring one holds none.
//  4. Slabs do not overlap, and lie within their segment, behind its header.
class SlabTable {
 public:
  // Takes a segment over. REQUIRES: the number is below kMaxSlabSegments and absent.
  void AddSegment(OwnedSegment segment, uint32_t number);

  // Retires the first segment, except number 0, that held no slab at this and the last `idle_calls`
  // - 1 calls. Nothing if there is none.
  std::optional<uint32_t> RetireIdle(uint32_t idle_calls);

  // Returns a segment; its number becomes absent. REQUIRES: the segment is retiring.
  OwnedSegment RemoveSegment(uint32_t number);

  // Leases and opens a slab of `row_capacity` rows whose regions take `bytes` in all.
  // RESOURCE_EXHAUSTED if there is no room.
  absl::StatusOr<uint32_t> Lease(uint64_t bytes, uint32_t row_capacity);

  // Reserves `rows` rows at the end of a slab. False if they do not fit. REQUIRES: the slab is
  // open.
  bool Reserve(uint32_t slab, uint32_t rows, uint32_t* first_row);

  // Ends reserved rows. Frees the slab if it is closed and these were its last. REQUIRES: at least
  // `rows` rows are live.
  void EndRows(uint32_t slab, uint32_t rows);

  // Lets the slab take no more rows. Frees it at once if no row is live. REQUIRES: it is open.
  void Close(uint32_t slab);

  // The address of row `row` of the input whose region begins `region_offset` bytes into the slab.
  char* Address(uint32_t slab, uint64_t region_offset, uint32_t row, uint64_t row_bytes) const;

  // Serving and retiring segments, by number.
  std::vector<SlabSegment> Segments() const;
  uint64_t segment_bytes() const { return segment_bytes_; }
  uint32_t segment_count() const { return segment_count_; }
  uint64_t first_segment_bytes() const;  // segment 0, which never retires; 0 until it is added

  const Slab& slab(uint32_t index) const { return slabs_[index]; }
  uint32_t leased_count() const { return leased_count_; }
  uint32_t open_count() const;
  uint64_t live_rows() const;

  // Size of a slab of `row_capacity` such rows, with each input's region rounded up.
  static uint64_t Bytes(absl::Span<const uint64_t> row_bytes, uint32_t row_capacity);

  // Size of the region for `rows` rows of an input.
  static uint64_t RegionBytes(const RequestInput& input, uint32_t rows);

  // CHECKs the class's invariants, and that its counters are correct. Slow: for tests.
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
