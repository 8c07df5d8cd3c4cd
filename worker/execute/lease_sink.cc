#include "worker/execute/lease_sink.h"

#include <algorithm>
#include <optional>

#include "proto/base/failpoint.h"
#include "proto/base/shape.h"

namespace mpsd {

void* LeaseSink::Add(DataType datatype, absl::Span<const int64_t> dims) {
  return Place(datatype, dims, TensorBytes(datatype, dims));
}

void* LeaseSink::AddBytes(absl::Span<const int64_t> dims, uint64_t bytes) {
  if (!ElementCount(dims).has_value()) return Place(DataType::kBytes, dims, std::nullopt);
  return Place(DataType::kBytes, dims, bytes);
}

void* LeaseSink::Place(DataType datatype, absl::Span<const int64_t> dims,
                       std::optional<uint64_t> bytes) {
  MPSD_FAILPOINT("worker.mid_forward");
  const std::optional<uint64_t> offset = AlignUp(needed_bytes_, kTensorAlignment);
  uint64_t end = 0;
  if (!bytes.has_value() || !offset.has_value() || __builtin_add_overflow(*offset, *bytes, &end) ||
      dims.size() > kMaxRank + 1 || record_->output_count == kMaxTensors) {
    valid_ = false;
    return nullptr;
  }
  OutputRecord& output = record_->outputs[record_->output_count++];
  output.datatype = static_cast<uint32_t>(datatype);
  output.rank = static_cast<uint32_t>(dims.size());
  std::copy(dims.begin(), dims.end(), output.dims);
  output.offset = *offset;
  output.bytes = *bytes;
  needed_bytes_ = end;
  return fits() ? lease_ + *offset : nullptr;
}

void LeaseSink::FailRow(uint32_t row, absl::string_view why) {
  if (row >= row_count_) {
    valid_ = false;
    return;
  }
  record_->row_failed[row] = 1;
  SetText(record_, why);
}

void SetText(CompletionRecord* record, absl::string_view text) {
  record->text_bytes = static_cast<uint32_t>(text.copy(record->text, kErrorTextBytes));
}

}  // namespace mpsd
