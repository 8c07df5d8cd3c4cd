// BatchReader: copies a batch record out of the mailbox and checks it.
#pragma once

#include "absl/status/status.h"
#include "proto/link/model_spec.h"
#include "proto/shm/layout.h"
#include "worker/consume/attachment.h"
#include "worker/execute/batch.h"

namespace mpsd {

// Turns a batch record into a Batch. The front end may have bugs: a record that leaves the
// segments' bounds or contradicts the spec is refused, and none of its payload is read.
//
// Owned by the lane. Lives on the lane's thread.
class BatchReader {
 public:
  BatchReader(const Attachment* attachment, const ModelSpec* spec)
      : attachment_(attachment), spec_(spec) {}

  // Fills all of `batch`; allocates nothing after warm-up. INTERNAL: `batch` must not run.
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
