#include "server/pool/batch/slab_sizing.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "proto/base/limits.h"
#include "server/pool/batch/slab_table.h"

namespace mpsd {
namespace {

// Nothing for a dim without a bound.
std::optional<int64_t> LargestDim(const ModelSpec& spec, const TensorSpec& input, uint32_t dim) {
  if (input.dims[dim] >= 0) return input.dims[dim];
  for (const PadRule& rule : spec.pad) {
    if (rule.input == input.name && rule.dim == dim && !rule.buckets.empty()) {
      return rule.buckets.back();
    }
  }
  return std::nullopt;
}

struct LargestRows {
  std::vector<uint64_t> bytes;
  bool are_guessed = false;  // some dim has no bound
};

LargestRows LargestRowsOf(const ModelSpec& spec, uint64_t message_bytes) {
  LargestRows rows;
  for (const TensorSpec& input : spec.inputs) {
    Dims dims;
    bool is_open = false;
    for (uint32_t dim = 0; dim < input.dims.size(); ++dim) {
      const std::optional<int64_t> largest = LargestDim(spec, input, dim);
      is_open = is_open || !largest.has_value();
      dims.push_back(largest.value_or(kAssumedUnknownDim));
    }
    const std::optional<uint64_t> bytes = TensorBytes(input.datatype, dims);
    const bool is_guess = is_open && ElementBytes(input.datatype) > 0;
    rows.bytes.push_back(is_guess ? std::min(bytes.value_or(message_bytes), message_bytes)
                                  : bytes.value_or(0));
    rows.are_guessed = rows.are_guessed || is_open;
  }
  return rows;
}

}  // namespace

uint32_t SlabRows(const ModelSpec& spec, absl::Span<const uint64_t> row_bytes) {
  if (!spec.batches()) return 1;
  uint64_t bytes = 0;
  for (const uint64_t row : row_bytes) bytes += row;
  const uint64_t fitting = kSlabBytesTarget / std::max<uint64_t>(bytes, 1);
  const uint64_t wanted = std::min<uint64_t>(fitting, 4ULL * spec.max_batch_size);
  return static_cast<uint32_t>(std::max<uint64_t>(wanted, spec.max_batch_size));
}

uint64_t SlabSegmentBytes(const ModelSpec& spec, const ArrivalBounds& bounds) {
  const LargestRows rows = LargestRowsOf(spec, bounds.message_bytes);
  const uint32_t batch = std::max(1U, spec.max_batch_size);
  const uint64_t slab = SlabTable::Bytes(rows.bytes, SlabRows(spec, rows.bytes));
  const uint64_t queue = SlabTable::Bytes(rows.bytes, batch) * bounds.queue_requests;
  const uint64_t wanted = std::clamp(queue, kMinSlabSegmentBytes, kMaxSlabSegmentBytes);
  uint64_t bytes = std::max(std::min(wanted, bounds.queue_bytes), slab) + 2 * slab;
  if (rows.are_guessed) bytes = std::min(bytes, kMaxSlabSegmentBytes);
  return (bytes + bounds.page_bytes) / bounds.page_bytes * bounds.page_bytes;
}

uint64_t GrowthBytes(uint64_t needed_bytes, uint64_t have_bytes, uint64_t page_bytes) {
  const uint64_t again = std::clamp(have_bytes, kMinSlabSegmentBytes, kMaxGrowthBytes);
  const uint64_t bytes = std::max(again, needed_bytes + sizeof(SegmentHeader)) + page_bytes - 1;
  return bytes / page_bytes * page_bytes;
}

uint64_t MaxSlabBytes(uint64_t first_segment_bytes, uint64_t queue_bytes) {
  return first_segment_bytes + 2 * queue_bytes;
}

uint64_t ExtentBytes(uint64_t bytes, uint64_t page_bytes) {
  if (bytes <= kSlabBytesTarget) return bytes;
  return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

}  // namespace mpsd
