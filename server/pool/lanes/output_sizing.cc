#include "server/pool/lanes/output_sizing.h"

#include <algorithm>

#include "proto/base/limits.h"
#include "proto/base/shape.h"

namespace mpsd {

uint64_t LaneLeaseBytes(const ModelSpec& spec) {
  const uint32_t rows = std::max(1U, spec.max_batch_size);
  const std::optional<uint64_t> known = KnownOutputBytes(spec, rows);
  return known.value_or(std::max<uint64_t>(rows * kAssumedOutputRowBytes, 8ULL << 20));
}

std::optional<uint64_t> KnownOutputBytes(const ModelSpec& spec, uint32_t rows) {
  uint64_t total = 0;
  for (const TensorSpec& output : spec.outputs) {
    Dims dims = output.dims;
    if (spec.batches()) dims.insert(dims.begin(), rows);
    const std::optional<uint64_t> bytes = TensorBytes(output.datatype, dims);
    const std::optional<uint64_t> aligned = AlignUp(bytes.value_or(0), kTensorAlignment);
    if (!bytes.has_value() || !aligned.has_value()) return std::nullopt;
    total += *aligned;
  }
  return total;
}

OutputArea OutputAreaOf(AreaKind kind, const ModelSpec& spec, uint32_t lanes, uint32_t lane_depth,
                        uint64_t largest_answer_bytes) {
  const uint64_t leases_bytes = lanes * lane_depth * LaneLeaseBytes(spec);
  OutputArea area;
  area.pin_limit_bytes = std::max(kMinPinBytes, leases_bytes);
  // Pins are counted in whole leases, but holes lie between the leases: hence twice the limit.
  area.bytes = leases_bytes + 2 * area.pin_limit_bytes;
  area.largest_lease_bytes = area.bytes / 2;
  if (largest_answer_bytes <= area.largest_lease_bytes) return area;
  area.largest_lease_bytes = largest_answer_bytes;
  if (kind == AreaKind::kUsual) {
    area.bytes = 2 * largest_answer_bytes;
  } else {
    area.bytes = std::max(area.bytes, largest_answer_bytes);
    area.pin_limit_bytes = 0;
  }
  return area;
}

}  // namespace mpsd
