#include "worker/execute/batch_executor.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "proto/base/failpoint.h"

namespace mpsd {
namespace {

void Reset(const Batch& batch, CompletionRecord* record) {
  record->row_count = batch.row_count;
  record->output_count = 0;
  record->text_bytes = 0;
  record->output_bytes_needed = 0;
  record->computed_tokens = 0;
  record->padding_tokens = 0;
  std::memset(record->row_failed, 0, batch.row_count);
}

// The part's rows of each input. REQUIRES: the first dim of each input is the batch.
std::vector<InputTensor> RowsOf(absl::Span<const InputTensor> inputs, uint32_t row_count,
                                const BatchPart& part) {
  std::vector<InputTensor> rows(inputs.begin(), inputs.end());
  for (InputTensor& input : rows) {
    const uint64_t row_bytes = input.bytes / row_count;
    input.data = static_cast<const char*>(input.data) + part.first_row * row_bytes;
    input.bytes = part.row_count * row_bytes;
    input.dims[0] = part.row_count;
  }
  return rows;
}

}  // namespace

void BatchExecutor::Execute(const Batch& batch, CompletionRecord* record) {
  record->batch_id = batch.id;
  record->started_ns = clock_->NowNs();
  Reset(batch, record);
  LeaseSink sink(batch.output, batch.output_bytes, batch.row_count, record);
  MPSD_FAILPOINT("worker.before_forward");
  const bool decoupled = model_->answers() != nullptr;
  absl::StatusOr<bool> answered = true;
  if (decoupled) answered = Answer(batch, &sink);
  const absl::Status status = decoupled ? answered.status() : RunWhole(batch, record, &sink);
  if (!status.ok()) {
    record->outcome = BatchOutcome::kFailed;
    SetText(record, status.message());
  } else if (!*answered) {
    record->outcome = BatchOutcome::kNoAnswer;
    record->output_count = 0;
  } else if (!sink.valid()) {
    record->outcome = BatchOutcome::kFailed;
    SetText(record, "PyTorch execute failure: the model's outputs cannot be sent");
  } else if (!sink.fits()) {
    record->outcome = BatchOutcome::kOutputTooLarge;
    record->output_bytes_needed = sink.needed_bytes();
  } else {
    record->outcome = decoupled ? BatchOutcome::kAnswer : BatchOutcome::kDone;
    NoteTokens(batch, record);
  }
  record->finished_ns = clock_->NowNs();
  MPSD_FAILPOINT_DATA("worker.after_forward", record, offsetof(CompletionRecord, outputs[1]));
}

void BatchExecutor::NoteTokens(const Batch& batch, CompletionRecord* record) const {
  const TokenCount count = tokens_.Count(batch);
  record->computed_tokens = count.computed;
  record->padding_tokens = count.padding;
}

absl::StatusOr<bool> BatchExecutor::Answer(const Batch& batch, LeaseSink* sink) {
  absl::StatusOr<bool> answered =
      model_->answers()->Answer(lane_, gather_.Inputs(batch), batch.answer_index, sink);
  if (!answered.ok()) Note(answered.status(), batch.row_count);
  return answered;
}

absl::Status BatchExecutor::RunWhole(const Batch& batch, CompletionRecord* record,
                                     LeaseSink* sink) {
  const bool can_split = CanSplit(batch);
  if (can_split && row_cap_ > 0 && batch.row_count > row_cap_) {
    return RunParts(batch, Chunks(batch.row_count, row_cap_), sink);
  }
  const absl::Status status = row_buckets_.Run(gather_.Inputs(batch), batch.row_count, sink);
  if (status.ok()) return status;
  Note(status, batch.row_count);
  if (!can_split || !MayHelpToSplit(status)) return status;
  // Forgets the outputs that the failed run declared.
  Reset(batch, record);
  *sink = LeaseSink(batch.output, batch.output_bytes, batch.row_count, record);
  return RunParts(batch, Halves({0, batch.row_count}), sink);
}

// OK when at least one row has an answer; the sink knows every other row as failed.
absl::Status BatchExecutor::RunParts(const Batch& batch, std::vector<BatchPart> parts,
                                     OutputSink* sink) {
  const absl::Span<const InputTensor> inputs = gather_.Inputs(batch);
  PartSink part_sink(sink, batch.row_count);
  const size_t most_runs = MostPartRuns(parts.size());
  absl::Status last;
  bool any = false;
  for (size_t runs = 0; !parts.empty();) {
    const BatchPart part = parts.back();
    parts.pop_back();
    const bool may_run =
        runs < most_runs && !device_lost_ && (last.ok() || clock_->NowNs() < batch.live_until_ns);
    if (may_run) {
      ++runs;
      const absl::Status status = RunPart(inputs, batch.row_count, part, &part_sink);
      any = any || status.ok();
      if (status.ok()) continue;
      last = status;
      if (part.row_count > 1 && MayHelpToSplit(status)) {
        for (const BatchPart& half : Halves(part)) parts.push_back(half);
        continue;
      }
    }
    part_sink.Begin(part);
    for (uint32_t row = 0; row < part.row_count; ++row) part_sink.FailRow(row, last.message());
  }
  return any ? absl::OkStatus() : last;
}

absl::Status BatchExecutor::RunPart(absl::Span<const InputTensor> inputs, uint32_t row_count,
                                    const BatchPart& part, PartSink* sink) {
  sink->Begin(part);
  const std::vector<InputTensor> rows = RowsOf(inputs, row_count, part);
  const absl::Status status = row_buckets_.Run(rows, part.row_count, sink);
  if (!status.ok()) {
    Note(status, part.row_count);
    return status;
  }
  if (sink->End()) return status;
  return absl::FailedPreconditionError(
      "PyTorch execute failure: the model answers rows of one batch with different shapes");
}

void BatchExecutor::Note(const absl::Status& status, uint32_t row_count) {
  device_lost_ = device_lost_ || absl::IsDataLoss(status);
  if (!absl::IsResourceExhausted(status) || ++memory_failures_ < kMemoryFailures) return;
  memory_failures_ = 0;
  row_cap_ = std::max(1U, row_count / 2);
  std::fprintf(stderr,
               "lane %u: memory did not suffice for %u rows; from now on it runs at most %u\n",
               lane_, row_count, row_cap_);
}

}  // namespace mpsd
