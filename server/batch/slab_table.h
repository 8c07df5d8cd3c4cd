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

// An arrival-ordered arena of rows. One region an input, 64-byte aligned, each of `row_capacity`
// rows; the same row number in each.
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
  int fd = -1;  // the table's
  uint64_t bytes = 0;
};

// Thread-compatible: guarded by the pool's mutex. Legal life of a slab:
//   free → open (Lease) → closed (Close) → free, when its last row has ended;
//   an open slab without a live row begins again at row 0.
// Legal life of a segment:
//   absent → serving (AddSegment) → retiring (RetireIdle) → absent (RemoveSegment).
// Extents are leased in serving ones only; a retiring one has none.
class SlabTable {
 public:
  // Takes a segment over. REQUIRES: the number is below kMaxSlabSegments and free.
  void AddSegment(OwnedSegment segment, uint32_t number);

  // Retires the first segment, but for number 0, in which no extent was leased at this call and the
  // `idle_calls` - 1 before. Nothing when there is none.
  std::optional<uint32_t> RetireIdle(uint32_t idle_calls);

  // Gives a retiring segment back; its number is free.
  OwnedSegment RemoveSegment(uint32_t number);

  // Leases a slab of `row_capacity` rows, whose regions take so many bytes, and opens it.
  // RESOURCE_EXHAUSTED when there is no room.
  absl::StatusOr<uint32_t> Lease(uint64_t bytes, uint32_t row_capacity);

  // Reserves `rows` rows at the end of an open slab. False when they do not fit.
  bool Reserve(uint32_t slab, uint32_t rows, uint32_t* first_row);

  // Ends rows that were reserved. Frees the slab when it is closed and they were the last.
  void EndRows(uint32_t slab, uint32_t rows);

  // Takes no further rows. Frees the slab at once when none is live.
  void Close(uint32_t slab);

  // Where row `row` of the input behind `region_offset` bytes lies.
  char* Address(uint32_t slab, uint64_t region_offset, uint32_t row, uint64_t row_bytes) const;

  // The segments that are there, serving or retiring, in the order of their numbers.
  std::vector<SlabSegment> Segments() const;
  uint64_t segment_bytes() const { return segment_bytes_; }
  uint32_t segment_count() const { return segment_count_; }

  const Slab& slab(uint32_t index) const { return slabs_[index]; }
  uint32_t leased_count() const { return leased_count_; }

  // Bytes of a slab of such rows, with each input's region rounded up.
  static uint64_t Bytes(absl::Span<const uint64_t> row_bytes, uint32_t row_capacity);

  // Bytes of the region of an input of `rows` rows.
  static uint64_t RegionBytes(const RequestInput& input, uint32_t rows);

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
