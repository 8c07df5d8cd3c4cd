#include "server/batch/slab_table.h"

#include <optional>
#include <utility>

#include "proto/base/check.h"
#include "proto/base/shape.h"

namespace mpsd {

void SlabTable::AddSegment(OwnedSegment segment) {
  const uint64_t first = sizeof(SegmentHeader);
  extents_.emplace_back(first, segment.bytes() - first, kTensorAlignment);
  segments_.push_back(std::move(segment));
}

uint64_t SlabTable::Bytes(absl::Span<const uint64_t> row_bytes, uint32_t row_capacity) {
  uint64_t bytes = 0;
  for (const uint64_t row : row_bytes) {
    const std::optional<uint64_t> region = AlignUp(row * row_capacity, kTensorAlignment);
    MPSD_CHECK(region.has_value());
    bytes += *region;
  }
  return bytes;
}

absl::StatusOr<uint32_t> SlabTable::Lease(absl::Span<const uint64_t> row_bytes,
                                          uint32_t row_capacity) {
  const uint64_t bytes = Bytes(row_bytes, row_capacity);
  for (uint32_t segment = 0; segment < extents_.size(); ++segment) {
    const std::optional<uint64_t> offset = extents_[segment].Allocate(bytes);
    if (!offset.has_value()) continue;
    if (unused_.empty()) {
      unused_.push_back(static_cast<uint32_t>(slabs_.size()));
      slabs_.emplace_back();
    }
    const uint32_t index = unused_.back();
    unused_.pop_back();
    slabs_[index] = Slab{segment, *offset, std::max<uint64_t>(bytes, 1), row_capacity, 0, 0, true};
    ++leased_count_;
    return index;
  }
  return absl::ResourceExhaustedError("no room for a slab");
}

bool SlabTable::Reserve(uint32_t slab, uint32_t rows, uint32_t* first_row) {
  Slab& entry = slabs_[slab];
  MPSD_CHECK(entry.open);
  if (entry.live_rows == 0) entry.next_row = 0;
  if (rows > entry.row_capacity - entry.next_row) return false;
  *first_row = entry.next_row;
  entry.next_row += rows;
  entry.live_rows += rows;
  return true;
}

void SlabTable::EndRows(uint32_t slab, uint32_t rows) {
  Slab& entry = slabs_[slab];
  MPSD_CHECK(entry.bytes > 0 && entry.live_rows >= rows);
  entry.live_rows -= rows;
  if (entry.live_rows == 0 && !entry.open) Free(slab);
}

void SlabTable::Close(uint32_t slab) {
  Slab& entry = slabs_[slab];
  MPSD_CHECK(entry.open);
  entry.open = false;
  if (entry.live_rows == 0) Free(slab);
}

char* SlabTable::Address(uint32_t slab, uint64_t region_offset, uint32_t row,
                         uint64_t row_bytes) const {
  const Slab& entry = slabs_[slab];
  return segments_[entry.segment].data() + entry.offset + region_offset + row * row_bytes;
}

void SlabTable::Free(uint32_t slab) {
  Slab& entry = slabs_[slab];
  extents_[entry.segment].Free(entry.offset, entry.bytes);
  entry = Slab{};
  unused_.push_back(slab);
  --leased_count_;
}

}  // namespace mpsd
