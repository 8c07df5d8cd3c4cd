// record_runs: what a lane records while it warms up, and how each record is tried.
//
//   for each shape, the largest first:
//     run two batches of random numbers, and take the time            without a record
//     Model::Record(), and run both batches again                     with it
//     the same answers (Agree()) ─▶ kept, with its price         others ─▶ dropped
//
// So a record answers for clients only after it has answered as the model itself does; its last
// digits may be others, as they are in a batch of another size. What cannot be recorded, such as a
// model that looks at its numbers on the host, runs as ever.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "proto/base/clock.h"
#include "worker/model/model.h"

namespace mpsd {

// More shapes than this are not recorded: a record holds memory of the device for good.
inline constexpr size_t kMaxRecords = 96;

// What became of a lane's records. Plain data.
struct RecordReport {
  uint32_t kept = 0;
  uint32_t tried = 0;
  std::string why;  // of the first that was not kept; empty: all were

  // "replays 9 of 10 shapes; 1 runs without: …". Pure.
  std::string Text() const;
};

// Records the model's runs on the lane, of the shapes that it names (Model::record_shapes()). An
// error is one after which the lane cannot serve: the device is lost. REQUIRES:
// Model::wants_records(). Called on the lane's thread, between WarmUpLane() and its first batch.
absl::StatusOr<RecordReport> RecordRuns(Model* model, uint32_t lane, const Clock* clock);

}  // namespace mpsd
