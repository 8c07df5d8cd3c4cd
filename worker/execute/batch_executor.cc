#include "worker/execute/batch_executor.h"

#include <cstring>

#include "proto/base/failpoint.h"
#include "worker/execute/lease_sink.h"

namespace mpsd {

void BatchExecutor::Execute(const Batch& batch, CompletionRecord* record) {
  record->batch_id = batch.id;
  record->row_count = batch.row_count;
  record->output_count = 0;
  record->text_bytes = 0;
  record->output_bytes_needed = 0;
  std::memset(record->row_failed, 0, batch.row_count);
  record->started_ns = clock_->NowNs();

  MPSD_FAILPOINT("worker.before_forward");
  LeaseSink sink(batch.output, batch.output_bytes, batch.row_count, record);
  const absl::Status status = model_->Run(lane_, gather_.Inputs(batch), batch.row_count, &sink);
  if (!status.ok()) {
    record->outcome = BatchOutcome::kFailed;
    SetText(record, status.message());
  } else if (!sink.valid()) {
    record->outcome = BatchOutcome::kFailed;
    SetText(record, "PyTorch execute failure: the model's outputs cannot be sent");
  } else if (!sink.fits()) {
    record->outcome = BatchOutcome::kOutputTooLarge;
    record->output_bytes_needed = sink.needed_bytes();
  } else {
    record->outcome = BatchOutcome::kDone;
  }
  record->finished_ns = clock_->NowNs();
  MPSD_FAILPOINT_DATA("worker.after_forward", record, offsetof(CompletionRecord, outputs[1]));
}

}  // namespace mpsd
