#include "server/pool/batch/slab_table.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "proto/base/check.h"
#include "proto/base/shape.h"

namespace mpsd {

SlabTable::Segment::Segment(OwnedSegment owned)
    : memory(std::move(owned)),
      extents(sizeof(SegmentHeader), memory.bytes() - sizeof(SegmentHeader), kTensorAlignment) {}

void SlabTable::AddSegment(OwnedSegment segment, uint32_t number) {
  MPSD_CHECK(number < kMaxSlabSegments);
  if (segments_.size() <= number) segments_.resize(number + 1);
  MPSD_CHECK(segments_[number] == nullptr);
  segment_bytes_ += segment.bytes();
  ++segment_count_;
  segments_[number] = std::make_unique<Segment>(std::move(segment));
}

std::optional<uint32_t> SlabTable::RetireIdle(uint32_t idle_calls) {
  std::optional<uint32_t> retired;
  for (uint32_t number = 1; number < segments_.size(); ++number) {
    Segment* segment = segments_[number].get();
    if (segment == nullptr || segment->retiring) continue;
    segment->idle_calls = segment->extents.used_bytes() == 0 ? segment->idle_calls + 1 : 0;
    if (retired.has_value() || segment->idle_calls < idle_calls) continue;
    segment->retiring = true;
    retired = number;
  }
  return retired;
}

OwnedSegment SlabTable::RemoveSegment(uint32_t number) {
  MPSD_CHECK(number < segments_.size() && segments_[number] != nullptr);
  const std::unique_ptr<Segment> segment = std::move(segments_[number]);
  MPSD_CHECK(segment->retiring && segment->extents.used_bytes() == 0);
  segment_bytes_ -= segment->memory.bytes();
  --segment_count_;
  return std::move(segment->memory);
}

std::vector<SlabSegment> SlabTable::Segments() const {
  std::vector<SlabSegment> segments;
  for (uint32_t number = 0; number < segments_.size(); ++number) {
    if (segments_[number] == nullptr) continue;
    const OwnedSegment& memory = segments_[number]->memory;
    segments.push_back({number, memory.peer_fd(), memory.bytes()});
  }
  return segments;
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

uint64_t SlabTable::RegionBytes(const RequestInput& input, uint32_t rows) {
  const std::optional<uint64_t> region = AlignUp(input.Bytes(rows), kTensorAlignment);
  MPSD_CHECK(region.has_value());
  return *region;
}

absl::StatusOr<uint32_t> SlabTable::Lease(uint64_t bytes, uint32_t row_capacity) {
  for (uint32_t number = 0; number < segments_.size(); ++number) {
    Segment* segment = segments_[number].get();
    if (segment == nullptr || segment->retiring) continue;
    const std::optional<uint64_t> offset = segment->extents.Allocate(bytes);
    if (!offset.has_value()) continue;
    if (unused_.empty()) {
      unused_.push_back(static_cast<uint32_t>(slabs_.size()));
      slabs_.emplace_back();
    }
    const uint32_t index = unused_.back();
    unused_.pop_back();
    slabs_[index] = Slab{number, *offset, std::max<uint64_t>(bytes, 1), row_capacity, 0, 0, true};
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
  return segments_[entry.segment]->memory.data() + entry.offset + region_offset + row * row_bytes;
}

void SlabTable::Free(uint32_t slab) {
  Slab& entry = slabs_[slab];
  segments_[entry.segment]->extents.Free(entry.offset, entry.bytes);
  entry = Slab{};
  unused_.push_back(slab);
  --leased_count_;
}

uint64_t SlabTable::first_segment_bytes() const {
  return segments_.empty() || segments_[0] == nullptr ? 0 : segments_[0]->memory.bytes();
}

uint32_t SlabTable::open_count() const {
  return static_cast<uint32_t>(
      std::count_if(slabs_.begin(), slabs_.end(), [](const Slab& slab) { return slab.open; }));
}

uint64_t SlabTable::live_rows() const {
  uint64_t rows = 0;
  for (const Slab& slab : slabs_) rows += slab.live_rows;
  return rows;
}

void SlabTable::CheckInvariants() const {
  uint32_t leased = 0;
  std::vector<const Slab*> used;
  for (const Slab& slab : slabs_) {
    if (slab.bytes == 0) continue;
    ++leased;
    MPSD_CHECK(slab.live_rows <= slab.next_row && slab.next_row <= slab.row_capacity);
    MPSD_CHECK(slab.open || slab.live_rows > 0);
    const Segment* segment = segments_[slab.segment].get();
    MPSD_CHECK(segment != nullptr && !segment->retiring);
    MPSD_CHECK(slab.offset >= sizeof(SegmentHeader) &&
               slab.offset + slab.bytes <= segment->memory.bytes());
    used.push_back(&slab);
  }
  MPSD_CHECK(leased == leased_count_ && leased + unused_.size() == slabs_.size());
  const auto position = [](const Slab* slab) { return std::pair(slab->segment, slab->offset); };
  std::sort(used.begin(), used.end(),
            [&](const Slab* one, const Slab* other) { return position(one) < position(other); });
  for (size_t i = 1; i < used.size(); ++i) {
    MPSD_CHECK(used[i - 1]->segment != used[i]->segment ||
               used[i - 1]->offset + used[i - 1]->bytes <= used[i]->offset);
  }
  uint64_t bytes = 0;
  for (const SlabSegment& segment : Segments()) bytes += segment.bytes;
  MPSD_CHECK(bytes == segment_bytes_ && Segments().size() == segment_count_);
}

}  // namespace mpsd
