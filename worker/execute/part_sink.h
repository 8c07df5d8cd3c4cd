// PartSink: joins the outputs of a batch's parts (split_policy.h) as if the batch had run at once.
//
//   part {0, 2}  ──▶ ┌───────────┐  Add(4 rows) once      ┌───────────┐
//   part {2, 1}  ──▶ │ PartSink  │ ─────────────────────▶ │ LeaseSink │
//   part {3, 1}  ──▶ └───────────┘  each part's own rows  └───────────┘
#pragma once

#include <cstdint>
#include <vector>

#include "proto/base/shape.h"
#include "worker/execute/split_policy.h"
#include "worker/model/model.h"

namespace mpsd {

// The first part declares each output for all rows. Rows of failed parts stay zero. Made for one
// batch. Lives on the lane's thread.
class PartSink final : public OutputSink {
 public:
  // `whole` outlives this sink.
  PartSink(OutputSink* whole, uint32_t row_count) : whole_(whole), row_count_(row_count) {}

  // Called before each run of a part, and before a part's rows are failed.
  void Begin(const BatchPart& part);

  // Called after a run that succeeded. False if its outputs differ from earlier parts in number,
  // datatypes or row shapes: the executor then fails the part's rows.
  bool End();

  void* Add(DataType datatype, absl::Span<const int64_t> dims) override;
  void* AddBytes(absl::Span<const int64_t> dims, uint64_t bytes) override;

  // `row` counts from 0 within the part.
  void FailRow(uint32_t row, absl::string_view why) override;

 private:
  struct Output {
    DataType datatype = DataType::kInvalid;
    Dims row_dims;
    uint64_t row_bytes = 0;
    char* data = nullptr;  // null when the lease has no room
  };

  Output* Declare(DataType datatype, absl::Span<const int64_t> row_dims);

  OutputSink* const whole_;
  const uint32_t row_count_;
  std::vector<Output> outputs_;
  BatchPart part_;
  size_t next_ = 0;
  bool declared_all_ = false;  // a part succeeded
  bool differs_ = false;
};

}  // namespace mpsd
