// record_runs: what a lane records while it warms up, and how each record is tried.
//
//   for each shape, the largest first:
//     run two batches of random numbers, and time them     without a record
//     RunRecorder::Record(), and run both batches again    with the record
//     Agree(): keep it, with its price                     otherwise drop it
//
// The last digits of a record's answers may differ. A model that cannot be recorded, such as one
// that looks at its numbers on the host, runs as usual.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "proto/base/clock.h"
#include "worker/model/model.h"

namespace mpsd {

// A record holds device memory for good.
inline constexpr size_t kMaxRecords = 96;

struct RecordReport {
  uint32_t kept = 0;
  uint32_t tried = 0;
  std::string why;  // why the first dropped record was not kept; empty: all were kept

  // "replays 9 of 10 shapes; 1 without: …".
  std::string Text() const;
};

// After an error the lane cannot serve: the device is lost. REQUIRES: the model has a recorder.
// Called on the lane's thread, between WarmUpLane() and the first batch.
absl::StatusOr<RecordReport> RecordRuns(Model* model, uint32_t lane, const Clock* clock);

}  // namespace mpsd
