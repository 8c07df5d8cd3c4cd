// BatchReader: copies a batch record out of the mailbox and checks it.
#pragma once

#include "absl/status/status.h"
#include "proto/link/model_spec.h"
#include "proto/shm/layout.h"
#include "worker/consume/attachment.h"
#include "worker/execute/batch.h"

namespace mpsd {

// Step 8 of a request's path: turns a batch record into a Batch in private memory, with addresses
// instead of offsets. The record lies in memory that the front end writes. The front end is trusted
// to mean well, but it may have bugs. A record is refused, and none of its payload is read, if it
// leaves the segments' bounds or contradicts the model's spec.
//
// Owned by the lane. Lives on the lane's thread. The lane checks deadlines and cancellation, not
// this class.
class BatchReader {
 public:
  BatchReader(const Attachment* attachment, const ModelSpec* spec)
      : attachment_(attachment), spec_(spec) {}

  // Fills all of `batch`, whose memory is reused from call to call: nothing is allocated after
  // warm-up. INTERNAL "a malformed batch record": the record is refused, and `batch` must not run.
  absl::Status Read(const BatchRecord& record, Batch* batch) const;

 private:
  absl::Status ReadInputs(const BatchRecord& record, Batch* batch) const;
  absl::Status ReadRuns(const BatchRecord& record, Batch* batch) const;
  absl::Status ReadRun(const RowRun& source, const uint64_t* byte_counts, const Batch& batch,
                       BatchRun* run) const;

  const Attachment* const attachment_;
  const ModelSpec* const spec_;
};

}  // namespace mpsd
