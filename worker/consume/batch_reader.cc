#include "worker/consume/batch_reader.h"

#include <algorithm>
#include <optional>

#include "proto/base/shape.h"

namespace mpsd {
namespace {

absl::Status Malformed() { return absl::InternalError("a malformed batch record"); }

// Bytes of one input's region in a slab: its rows, rounded up to the next region.
std::optional<uint64_t> RegionBytes(uint32_t row_capacity, uint64_t row_bytes) {
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(row_bytes, row_capacity, &bytes)) return std::nullopt;
  return AlignUp(bytes, kTensorAlignment);
}

// Nothing when the dims are negative or their product overflows.
std::optional<uint64_t> RowBytes(DataType datatype, absl::Span<const int64_t> dims) {
  if (datatype != DataType::kBytes) return TensorBytes(datatype, dims);
  return ElementCount(dims).has_value() ? std::optional<uint64_t>(0) : std::nullopt;
}

// Whether the input is as the spec says, or left out where it may be.
bool IsOfSpec(const BatchInput& input, const TensorSpec& tensor) {
  if (input.datatype == DataType::kInvalid) {
    return tensor.optional && input.dims.empty() && input.row_bytes == 0;
  }
  return input.datatype == tensor.datatype &&
         RowBytes(input.datatype, input.dims) == input.row_bytes &&
         ShapeFits(tensor.dims, input.dims);
}

}  // namespace

absl::Status BatchReader::Read(const BatchRecord& record, Batch* batch) const {
  batch->id = record.batch_id;
  batch->live_until_ns = record.live_until_ns;
  batch->row_count = record.row_count;
  batch->has_batch_dim = record.has_batch_dim != 0;
  batch->answer_index = record.answer_index;
  batch->output_bytes = record.output_bytes;
  batch->output = attachment_->OutputBytes(record.output_offset, record.output_bytes);
  const uint32_t most_rows = std::max(1U, spec_->max_batch_size);
  if (batch->output == nullptr || record.output_offset % kTensorAlignment != 0 ||
      batch->has_batch_dim != spec_->batches() || batch->row_count == 0 ||
      batch->row_count > most_rows || batch->answer_index > (spec_->decoupled ? kMaxAnswers : 0)) {
    return Malformed();
  }
  if (absl::Status status = ReadInputs(record, batch); !status.ok()) return status;
  return ReadRuns(record, batch);
}

absl::Status BatchReader::ReadInputs(const BatchRecord& record, Batch* batch) const {
  if (record.input_count != spec_->inputs.size()) return Malformed();
  batch->inputs.resize(record.input_count);
  batch->bytes_inputs = 0;
  for (uint32_t i = 0; i < record.input_count; ++i) {
    const InputRecord& source = record.inputs[i];
    BatchInput& input = batch->inputs[i];
    if (source.rank > kMaxRank) return Malformed();
    input.datatype = static_cast<DataType>(source.datatype);
    input.dims.assign(source.dims, source.dims + source.rank);
    input.row_bytes = source.row_bytes;
    if (!IsOfSpec(input, spec_->inputs[i])) return Malformed();
    if (input.datatype == DataType::kBytes) ++batch->bytes_inputs;
  }
  return absl::OkStatus();
}

absl::Status BatchReader::ReadRuns(const BatchRecord& record, Batch* batch) const {
  if (record.run_count == 0 || record.run_count > kMaxRuns ||
      record.run_count * batch->bytes_inputs > kMaxByteCounts) {
    return Malformed();
  }
  batch->runs.resize(record.run_count);
  const uint64_t* byte_counts = record.byte_counts;
  uint64_t rows = 0;
  for (uint32_t r = 0; r < record.run_count; ++r) {
    rows += record.runs[r].row_count;
    absl::Status status = ReadRun(record.runs[r], byte_counts, *batch, &batch->runs[r]);
    if (!status.ok()) return status;
    byte_counts += batch->bytes_inputs;
  }
  return rows == batch->row_count ? absl::OkStatus() : Malformed();
}

absl::Status BatchReader::ReadRun(const RowRun& source, const uint64_t* byte_counts,
                                  const Batch& batch, BatchRun* run) const {
  run->row_count = source.row_count;
  run->inputs.clear();
  run->input_bytes.clear();
  if (source.slab_offset % kTensorAlignment != 0 || source.row_count == 0 ||
      source.first_row > source.row_capacity ||
      source.row_count > source.row_capacity - source.first_row) {
    return Malformed();
  }
  // Rows of different lengths have no fixed address: such a run takes the whole slab.
  if (batch.bytes_inputs > 0 && source.row_count != source.row_capacity) return Malformed();
  uint64_t offset = source.slab_offset;
  for (const BatchInput& input : batch.inputs) {
    const bool counted = input.datatype == DataType::kBytes;
    const uint64_t bytes = counted ? *byte_counts++ : source.row_count * input.row_bytes;
    const std::optional<uint64_t> region = counted
                                               ? AlignUp(bytes, kTensorAlignment)
                                               : RegionBytes(source.row_capacity, input.row_bytes);
    if (!region.has_value()) return Malformed();
    const char* data = attachment_->SlabBytes(source.segment, offset, *region);
    if (data == nullptr) return Malformed();
    run->inputs.push_back(data + source.first_row * input.row_bytes);
    run->input_bytes.push_back(bytes);
    offset += *region;
  }
  return absl::OkStatus();
}

}  // namespace mpsd
